/** The commands of `resourced` and their options. Each command has a file of its own, loaded when it runs. */
import { Argument, Command, Option } from 'commander'
import { checkOptions, repeatable } from 'resourced-check/options'
import { print } from 'resourced-check/terminal'
import { withoutCredentials } from 'resourced-contract/model/text'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { packageVersion } from '../server/observe/package-version.ts'
import { readSettings, type Setting, type SettingName, settings } from '../server/settings.ts'
import { withoutSecrets } from './command-line.ts'

/** Exit codes: a command that failed, and a command line that is wrong by itself. */
const failure = 1
const wrongUse = 2

const fileKinds = 'resources.ts, .js, .json or .yaml'
const declarationFile = `Declaration file (default: ${fileKinds} in this directory)`
const declaration = () => new Option('--declaration <file>', declarationFile)
export const program = new Command('resourced')
  .description('Serve the HTTP interface that you declare, from a database.')
  .version(packageVersion(), '-V, --version', 'Show the version of Resourced')
  .helpOption('-h, --help', 'Show help')
  // After a command, --version belongs to the command.
  .enablePositionalOptions()
  .showHelpAfterError('(resourced help lists all commands, and resourced help COMMAND the options of one)')
  // Exit code 1 means that a command failed, or is its verdict. All commands below inherit this.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : wrongUse))
  // Commander repeats unknown arguments, which may contain a password.
  .configureOutput({ writeOut: print, outputError: (text, write) => write(withoutCredentials(text)) })
  .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
program.helpCommand('help [command]', 'Show help for a command')

/** An option of the table of settings. Some commands have another default or help. */
function setting(name: SettingName, change: Partial<Setting> = {}): Option {
  const { flags, help, env, choices, isRepeatable, default: normal }: Setting = { ...settings[name], ...change }
  const option = isRepeatable === true ? repeatable(flags, help) : new Option(flags, help)
  if (choices !== undefined) option.choices([...choices])
  if (env !== undefined) option.env(env)
  return normal === undefined ? option : option.default(normal)
}

function withSettings(command: Command, names: readonly SettingName[]): Command {
  for (const name of names) command.addOption(setting(name))
  return command
}

// A database in memory ends with its process, so only a server has a use for it.
const keptDatabase = () => setting('database', { help: settings.database.help.replace(', sqlite::memory:', '') })

/** Adds a command with the settings of its database. */
function databaseCommand(parent: Command, name: string, description: string, isDefault = false): Command {
  const command = parent.command(name, { isDefault }).description(description)
  return command.addOption(keptDatabase()).addOption(setting('databasePooler'))
}

program
  .command('init')
  .description('Write a declaration, package.json, .gitignore, Dockerfile and compose.yaml; keep files that exist')
  .argument('[folder]', 'Folder to write to, which is created if necessary (default: this directory)')
  .option('--yaml', 'Write the declaration in YAML, as resources.yaml (default)')
  .addOption(new Option('--typescript', 'Write the declaration in TypeScript, as resources.ts').conflicts('yaml'))
  .action(run(async () => (await import('./init.ts')).initCommand))

const devCommand = databaseCommand(
  program,
  'dev',
  'Serve a declaration by plain HTTP on this machine while you edit it',
)
  .argument('[file]', declarationFile)
  .addOption(setting('port', { default: '8080' }))
withSettings(devCommand, [
  ...(['databaseUnsafe', 'corsOrigin', 'webhookNetwork', 'corsCredentials', 'jwtIssuer', 'jwtAudience'] as const),
  ...(['jwtJwks', 'jwtAlgorithms', 'jwtRolesClaim', 'console', 'consoleOpenidClient', 'consoleOpenidScope'] as const),
  'basePath',
])
  .addOption(setting('rateLimit', { default: 'off' }))
  .addOption(setting('logLevel', { default: 'debug' }))
  .action(run(async () => (await import('./dev.ts')).devCommand))

withSettings(
  program.command('serve').description('Serve the declared interface').argument('[file]', declarationFile),
  Object.keys(settings) as SettingName[],
).action(run(async () => (await import('./serve-command.ts')).serveCommand))

const keys = program.command('keys').description('Create, list and revoke API keys')
databaseCommand(keys, 'create', 'Create an API key and print it; it cannot be shown again')
  .requiredOption('--subject <name>', 'Who calls with this key')
  .option('--roles <names>', 'Roles of the key, comma-separated; admin may do everything by default', '')
  .option('--claims <json>', 'Claims of the key as a JSON object, for conditions: \'{"team": "acme"}\'')
  .option('--tenant <name>', 'Tenant that the key belongs to (default: none, as for a key of an operator)')
  .addOption(declaration())
  .option('--expires <duration>', 'Lifetime of the key as an ISO 8601 duration, such as P90D (default: unlimited)')
  .option('--json', 'Print the key and its attributes as JSON')
  .action(run(async () => (await import('./keys.ts')).createKey))
databaseCommand(keys, 'list', 'List API keys with their attributes; the keys themselves are not stored')
  .option('--tenant <name>', 'List the keys of a tenant')
  .option('--json', 'Print JSON')
  .action(run(async () => (await import('./keys.ts')).printKeys))
databaseCommand(keys, 'revoke', 'Revoke an API key')
  .argument('<id>', 'Id of the key; keys list shows it')
  .option('--tenant <name>', 'Tenant that the key belongs to')
  .option('--descendants', 'Also revoke all keys that were created with this key, or with one of those')
  .action(run(async () => (await import('./keys.ts')).revokeKey))

const tenants = program.command('tenants').description('List, create, copy, move and migrate tenants while servers run')
databaseCommand(tenants, 'list', 'List tenants with their ids, states and sizes')
  .option('--json', 'Print JSON')
  .action(run(async () => (await import('./tenants.ts')).printTenants))
databaseCommand(tenants, 'create', 'Create a tenant and print its id')
  .argument('<name>', 'Name of the tenant, which is the claim of its callers')
  .addOption(declaration())
  .action(run(async () => (await import('./tenants.ts')).createTenant))
databaseCommand(tenants, 'export', 'Write a consistent copy of a tenant to a file, or of each tenant')
  .argument('[name]', 'Name of the tenant')
  .argument('[file]', 'File to create; an existing file is never overwritten')
  .option('--all <folder>', 'Folder for a file of each tenant, named by its id; files that are there stay')
  .action(run(async () => (await import('./tenants.ts')).exportTenant))
databaseCommand(tenants, 'import', 'Make a tenant of a file that tenants export or backup created')
  .argument('<name>', 'Name of the new tenant, which no other one has')
  .argument('<file>', 'File that resourced tenants export, or resourced backup, created')
  .addOption(declaration())
  .addOption(setting('databaseUnsafe'))
  .action(run(async () => (await import('./tenants.ts')).importTenant))
tenants
  .command('move')
  .description('Move a tenant to another database, of the same engine or another')
  .argument('[name]', 'Name of the tenant (default: all)')
  .requiredOption('--from <address>', 'Source database: sqlite:FILE or postgres://USER@HOST:5432/NAME')
  .requiredOption('--to <address>', 'Target database')
  .addOption(declaration())
  .addOption(setting('databaseUnsafe'))
  .action(run(async () => (await import('./tenants.ts')).moveTenants))
databaseCommand(tenants, 'migrate', 'Show the schema changes that tenants need, or apply them')
  .argument('[file]', declarationFile)
  .option('--apply', 'Apply the changes, including those that lose data')
  .action(run(async () => (await import('./tenants.ts')).migrateTenants))

const maintenance = program
  .command('maintenance')
  .description('Turn maintenance on or off: every server of a database answers 503, or refuses changes of a tenant')
databaseCommand(maintenance, 'on', 'Turn maintenance on, or change its message; servers notice within a second')
  .option('--tenant <name>', 'Refuse changes of this tenant only, and answer its reads')
  .option('--message <text>', 'Message for clients, one line of at most 200 characters')
  .option('--retry-after <duration>', 'When clients should retry, as an ISO 8601 duration such as PT10M', 'PT1M')
  .action(run(async () => (await import('./maintenance.ts')).maintenanceOn))
databaseCommand(maintenance, 'off', 'Turn maintenance off')
  .option('--tenant <name>', 'Turn off the maintenance of this tenant')
  .action(run(async () => (await import('./maintenance.ts')).maintenanceOff))
databaseCommand(
  maintenance,
  'status',
  'Show whether maintenance is on, since when, and its message (default command)',
  true,
)
  .option('--tenant <name>', 'Show the maintenance of this tenant')
  .action(run(async () => (await import('./maintenance.ts')).maintenanceStatus))

const purge = program
  .command('purge')
  .description('Show when servers last purged expired records, or confirm the clock that they purge by')
databaseCommand(
  purge,
  'status',
  'Show the time of the last purge and the time of this machine (default command)',
  true,
).action(run(async () => (await import('./maintenance.ts')).purgeStatus))
databaseCommand(
  purge,
  'confirm',
  'Confirm that the clock of this machine is right, so that servers purge again after a clock jump or a long stop',
).action(run(async () => (await import('./maintenance.ts')).confirmClock))

databaseCommand(program, 'migrate', 'Show the schema changes that the declaration needs, or apply them')
  .argument('[file]', declarationFile)
  .option('--apply', 'Apply the changes, including those that lose data')
  .action(run(async () => (await import('./move.ts')).migrateCommand))

databaseCommand(
  program,
  'import',
  'Import records from a file of any size, or from the tables of a PostgreSQL database',
)
  .argument('[collection]', 'Collection of the records')
  .argument('[file]', 'JSON, NDJSON or CSV file; - is standard input')
  .addOption(
    new Option('--format <format>', 'Format of the file (default: by its name)').choices(['json', 'ndjson', 'csv']),
  )
  .option('--map <file>', 'Map in YAML or JSON: which field each column is, and how its values are written')
  .addOption(repeatable('--null <text>', 'Text that means no value, such as NA'))
  .option('--delimiter <character>', 'Character between the cells of CSV, or tab (default: a comma)')
  .option('--encoding <name>', 'Encoding of the file, such as windows-1252 (default: by its byte order mark, or UTF-8)')
  .option('--ignore-unknown', 'Leave out columns that are no fields')
  .option(
    '--key <field>',
    'Unique field that identifies a record: keep records that are there, and read references as its values',
  )
  .option('--skip-invalid', 'Report invalid records and continue')
  .option('--all-or-nothing', 'Import all records in one transaction, or none')
  .option('--from <address>', 'Import the tables of this database: postgres://USER@HOST:5432/NAME')
  .addOption(
    repeatable('--schema <name>', 'Schema to read with --from', "the first schema of the connection's search_path"),
  )
  .option('--subject <name>', 'Owner of the records', 'import')
  .option('--tenant <name>', 'Tenant that the records belong to, if the declaration has tenants')
  .addOption(declaration())
  .addOption(setting('databaseUnsafe'))
  .action(run(async () => (await import('./import.ts')).importCommand))

program
  .command('move')
  .description('Move all data of a database into an empty one, of the same engine or another')
  .requiredOption('--from <address>', 'Source database: sqlite:FILE or postgres://USER@HOST:5432/NAME')
  .requiredOption('--to <address>', 'Target database, which must be empty')
  .addOption(declaration())
  .addOption(setting('databaseUnsafe'))
  .action(run(async () => (await import('./move.ts')).moveCommand))

withSettings(
  program
    .command('doctor')
    .description('Check what would fail or lose data here, and say what to do; change nothing')
    .argument('[file]', declarationFile),
  [
    ...(['database', 'databasePooler', 'databasePool', 'databaseUnsafe', 'workers', 'host', 'port'] as const),
    ...(['tlsCert', 'tlsKey', 'http', 'trustProxy', 'metricsPort', 'metricsHost'] as const),
  ],
)
  .option('--tenant <name>', 'Check the database of a tenant')
  .option('--json', 'Print JSON')
  .action(run(async () => (await import('./doctor.ts')).doctorCommand))

program
  .command('backup')
  .description('Write a consistent copy of a database to a file while servers use the database')
  .argument('<file>', 'File to create; an existing file is never overwritten')
  .addOption(keptDatabase())
  .action(run(async () => (await import('./backup.ts')).backupCommand))

program
  .command('restore')
  .description('Restore a backup into an empty database, of the same engine or another')
  .argument('<file>', 'File that resourced backup created')
  .addOption(keptDatabase())
  .addOption(setting('databaseUnsafe'))
  .action(run(async () => (await import('./backup.ts')).restoreCommand))

program
  .command('completion')
  .description('Print a script that completes commands, options and values in a shell')
  .addArgument(new Argument('<shell>', 'Shell of the script').choices(['bash', 'zsh', 'fish']))
  .action(run(async () => (await import('./completion.ts')).completionCommand))
// The scripts of `completion` call it.
program
  .command('complete', { hidden: true })
  .argument('[words...]')
  .action(run(async () => (await import('./completion.ts')).completeCommand))

program
  .command('inspect')
  .description('Print a declaration made from the tables of an existing PostgreSQL database')
  .argument('[address]', 'Database: postgres://USER@HOST:5432/NAME (default: DATABASE_URL)')
  .addOption(repeatable('--schema <name>', 'Schema to read', "the first schema of the connection's search_path"))
  .addOption(setting('databasePooler'))
  .action(run(async () => (await import('./inspect.ts')).inspectCommand))

program
  .command('openapi')
  .description('Print the OpenAPI document')
  .argument('[file]', declarationFile)
  .option('--version <name>', 'Version to describe, such as v1 (default: the current version)')
  .action(run(async () => (await import('./check-changes.ts')).openApiCommand))

program
  .command('types')
  .description('Print the TypeScript types of an interface, for the client resourced/client')
  .argument(
    '[source]',
    `URL of the interface, OpenAPI document, or declaration (default: ${fileKinds} in this directory)`,
  )
  .addOption(new Option('--key <key>', 'API key or token to read the document at a URL with').env('RESOURCED_KEY'))
  .option('--version <name>', 'Version of a declaration, such as v1 (default: the current version)')
  .action(run(async () => (await import('./types.ts')).typesCommand))

program
  .command('schema')
  .description('Print the JSON Schema of declarations, by which editors complete and check YAML and JSON')
  .action(run(async () => (await import('./check-changes.ts')).schemaCommand))

program
  .command('check-changes')
  .description('Compare an interface with a newer one and report what breaks clients')
  .argument('<old>', 'Declaration, or OpenAPI document in JSON or YAML')
  .argument('<new>', 'Declaration or OpenAPI document of the newer interface')
  .addOption(
    new Option('--format <format>', 'Format of the report').choices(['text', 'json', 'markdown']).default('text'),
  )
  .option('--strict', 'Exit with 1 also if a change needs a review')
  .action(run(async () => (await import('./check-changes.ts')).checkChanges))

checkOptions(program.command('check')).action(run(async () => (await import('resourced-check')).checkCommand))

/**
 * Reads the settings of a command, loads it and runs it. An error is explained on standard error; the exit code is 2
 * for wrong use, otherwise 1.
 */
function run<Arguments extends unknown[]>(
  load: () => Promise<(...given: Arguments) => Promise<void>>,
): (...given: Arguments) => Promise<void> {
  return async (...given) => {
    // If standard error is closed, a server or an import continues.
    process.stderr.on('error', () => {})
    try {
      const command = await load()
      // Commander gives the arguments, the options and the command.
      const [options, { options: known }] = given.slice(-2) as [Record<string, unknown>, Command]
      const names = known.map((option) => option.attributeName())
      await command(...(given.with(-2, readSettings(options, names)) as Arguments))
    } catch (error) {
      const { printError } = await import('./explain.ts')
      printError(error)
      process.exitCode = error instanceof UsageError ? wrongUse : failure
    }
  }
}

/** Runs the command that the arguments of the process name. */
export async function main(): Promise<void> {
  const given = process.argv.slice(2)
  // Lists of processes show arguments to everyone on the machine.
  const title = withoutSecrets(given)
  if (title !== given.join(' ')) process.title = `resourced ${title}`
  // Commander's own help command reads one word.
  const isNested = given[0] === 'help' && given.length > 2
  await program.parseAsync(isNested ? [...given.slice(1), '--help'] : given, { from: 'user' })
}
