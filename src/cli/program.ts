/** The options of the command `resourced`; one file a command, loaded when it is called. */
import { Command, Option } from 'commander'
import { withoutCredentials } from '../model/credentials.ts'
import { logLevels } from '../server/observe/log.ts'
import { packageVersion } from '../server/observe/package-version.ts'
import { address, pool, pooler, replica, unsafe } from './database-options.ts'
import { argumentsTold } from './process-title.ts'
import { print } from './terminal.ts'

// What lists of processes show.
const told = argumentsTold(process.argv.slice(2))
if (told !== process.argv.slice(2).join(' ')) process.title = `resourced ${told}`

const declaration = () =>
  new Option('--declaration <file>', 'the declaration (default: resources.ts, .js, .json or .yaml here)')

const program = new Command('resourced')
  .description('Serves the resources that you declare, by HTTP.')
  .version(packageVersion())
  // After a command --version is that command's own.
  .enablePositionalOptions()
  .showHelpAfterError('(resourced --help lists what there is)')
  // What is mistyped is repeated, a password in it is not.
  .configureOutput({ writeOut: print, outputError: (text, write) => write(withoutCredentials(text)) })
  .configureHelp({ sortSubcommands: false, showGlobalOptions: false })

program
  .command('serve', { isDefault: false })
  .description('serve a declared interface')
  .argument('[file]', 'the declaration: resources.ts, .js, .json or .yaml (default: the one here)')
  .addOption(address())
  .addOption(replica())
  .addOption(pool())
  .addOption(pooler())
  .addOption(unsafe())
  .addOption(new Option('--host <address>', 'where to listen').env('HOST').default('127.0.0.1'))
  .addOption(new Option('--port <number>', 'where to listen; 0 takes a free port').env('PORT').default('8443'))
  .option('--tls-cert <file>', 'the certificate, PEM (default: a local one is made)')
  .option('--tls-key <file>', 'its private key, PEM')
  .option('--http', 'plain HTTP, on loopback only')
  .addOption(
    new Option('--cors-origin <origin>', 'an origin whose pages may read answers, or *; may be repeated')
      .env('CORS_ORIGIN')
      .default([], 'none')
      .argParser((origin, before: readonly string[]) => [...before, origin]),
  )
  .option('--cors-credentials', 'those pages may send credentials; never together with *')
  .addOption(new Option('--jwt-issuer <issuer>', 'accept JWT too: of this issuer').env('JWT_ISSUER'))
  .addOption(new Option('--jwt-audience <audience>', 'for this audience').env('JWT_AUDIENCE'))
  .addOption(new Option('--jwt-jwks <address>', 'whose keys are here: https://…, or a file').env('JWT_JWKS'))
  .addOption(
    new Option('--jwt-algorithms <names>', 'by these algorithms, comma-separated (default: all asymmetric ones)')
      .env('JWT_ALGORITHMS')
      .argParser((names) => names.split(',')),
  )
  .addOption(
    new Option('--jwt-roles-claim <claim>', 'whose roles are here, such as realm_access.roles (default: roles)').env(
      'JWT_ROLES_CLAIM',
    ),
  )
  .option('--trust-proxy', 'behind a proxy: believe its Forwarded or X-Forwarded-* headers')
  .addOption(
    new Option('--rate-limit <rates>', 'whether the rates of the declaration are limits')
      .choices(['declared', 'off'])
      .default('declared'),
  )
  .addOption(
    new Option('--redis <address>', 'shares the counts of rates between servers: redis:// or rediss://').env(
      'REDIS_URL',
    ),
  )
  .addOption(
    new Option('--rate-limit-on-failure <state>', 'while Redis fails: open counts on each server, closed refuses')
      .choices(['open', 'closed'])
      .default('open'),
  )
  .addOption(
    new Option(
      '--metrics-port <number>',
      'where Prometheus finds /metrics; 0 takes a free port (default: nowhere)',
    ).env('METRICS_PORT'),
  )
  .addOption(
    new Option('--metrics-host <address>', 'the address of that port; it speaks plain HTTP and asks for no key')
      .env('METRICS_HOST')
      .default('127.0.0.1'),
  )
  .addOption(
    new Option('--migrate <changes>', 'what may change in the database at start')
      .choices(['additive', 'never'])
      .default('additive'),
  )
  .addOption(
    new Option('--log-level <level>', 'what is logged')
      .choices([...logLevels])
      .env('LOG_LEVEL')
      .default('info'),
  )
  .action(fail(async () => (await import('./serve.ts')).serveCommand))

const keys = program.command('keys').description('create, list and revoke API keys')
keys
  .command('create')
  .description('create a key; it is printed once, alone, on standard output')
  .requiredOption('--subject <name>', 'who calls with it')
  .option('--roles <names>', 'roles, comma-separated; admin may do everything that is not declared otherwise', '')
  .option('--expires <duration>', 'ISO 8601 duration, such as P90D (default: never)')
  .option('--json', 'print all that is known of it as JSON')
  .addOption(address())
  .addOption(pooler())
  .action(fail(async () => (await import('./keys.ts')).createKey))
keys
  .command('list')
  .description('list keys; never the keys themselves, which are not kept')
  .option('--json', 'as JSON')
  .addOption(address())
  .addOption(pooler())
  .action(fail(async () => (await import('./keys.ts')).listKeys))
keys
  .command('revoke')
  .description('revoke a key')
  .argument('<id>', 'its id, as keys list shows it')
  .option('--descendants', 'revoke the keys that were made with it too, and those made with them')
  .addOption(address())
  .addOption(pooler())
  .action(fail(async () => (await import('./keys.ts')).revokeKey))

const maintenance = program
  .command('maintenance')
  .description('answer every request with 503 for a while, on every server of a database')
maintenance
  .command('on')
  .description('turn it on, or change what clients are told; servers notice within a second')
  .option('--message <text>', 'what clients are told, in one line of at most 200 characters')
  .option('--retry-after <duration>', 'when they are to ask again, as an ISO 8601 duration such as PT10M', 'PT1M')
  .addOption(address())
  .addOption(pooler())
  .action(fail(async () => (await import('./maintenance.ts')).maintenanceOn))
maintenance
  .command('off')
  .description('turn it off')
  .addOption(address())
  .addOption(pooler())
  .action(fail(async () => (await import('./maintenance.ts')).maintenanceOff))
maintenance
  .command('status', { isDefault: true })
  .description('say whether it is on, since when, and what clients are told (the default)')
  .addOption(address())
  .addOption(pooler())
  .action(fail(async () => (await import('./maintenance.ts')).maintenanceStatus))

const purge = program
  .command('purge')
  .description('show whether the clock lets servers remove what has expired, and confirm the clock')
purge
  .command('status', { isDefault: true })
  .description('show the time of the last purge, and the time of this machine (the default)')
  .addOption(address())
  .addOption(pooler())
  .action(fail(async () => (await import('./purge.ts')).purgeStatus))
purge
  .command('confirm')
  .description('confirm that the clock is right, after a jump or a long stop: servers remove what has expired by it')
  .addOption(address())
  .addOption(pooler())
  .action(fail(async () => (await import('./purge.ts')).confirmClock))

program
  .command('migrate')
  .description('show what the database lacks against the declaration')
  .argument('[file]', 'the declaration (default: the one here)')
  .option('--apply', 'make the changes, those that lose data too')
  .addOption(address())
  .addOption(pooler())
  .action(fail(async () => (await import('./migrate.ts')).migrateCommand))

program
  .command('import')
  .description('import records from a file, streamed')
  .argument('<collection>', 'where the records go')
  .argument('<file>', 'JSON, NDJSON or CSV; - is standard input')
  .addOption(
    new Option('--format <format>', 'what the file is (default: by its ending)').choices(['json', 'ndjson', 'csv']),
  )
  .option('--skip-invalid', 'report invalid records and go on')
  .option('--subject <name>', 'whom the records belong to', 'import')
  .addOption(declaration())
  .addOption(address())
  .addOption(pooler())
  .addOption(unsafe())
  .action(fail(async () => (await import('./import.ts')).importCommand))

program
  .command('move')
  .description('move all that a database holds into an empty one, of the same engine or another')
  .requiredOption('--from <address>', 'the database to leave: sqlite:FILE or postgres://USER@HOST:5432/NAME')
  .requiredOption('--to <address>', 'the database to fill; it has to be empty')
  .addOption(declaration())
  .addOption(unsafe())
  .action(fail(async () => (await import('./move.ts')).moveCommand))

program
  .command('openapi')
  .description('print the OpenAPI document')
  .argument('[file]', 'the declaration (default: the one here)')
  .option('--version <name>', 'of this version, such as v1 (default: the current one)')
  .action(fail(async () => (await import('./openapi.ts')).openApiCommand))

program
  .command('check-changes')
  .description('compare an interface with a newer one: what breaks clients, and what does not')
  .argument('<old>', 'a declaration, or an OpenAPI document in JSON or YAML')
  .argument('<new>', 'the same, newer')
  .addOption(new Option('--format <format>', 'how it is told').choices(['text', 'json', 'markdown']).default('text'))
  .option('--strict', 'exit with 1 also where something has to be looked at by hand')
  // Here 1 says that something breaks: a command line that cannot be read is none of that.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .action(fail(async () => (await import('./check-changes.ts')).checkChanges))

const repeated = (value: string, before: readonly string[]) => [...before, value]

program
  .command('check')
  .description('check how far a server keeps the rules, whoever made it')
  .argument('<url>', 'where its interface is, such as https://api.example.com/v1')
  .addOption(new Option('--key <key>', 'a credential, sent as Authorization: Bearer').env('RESOURCED_CHECK_KEY'))
  .addOption(
    new Option('--header <field>', "a field of every request, such as 'X-API-Key: …'; may be repeated")
      .default([], 'none')
      .argParser(repeated),
  )
  .addOption(
    new Option('--other-key <key>', 'the credential of somebody who may do nothing').env('RESOURCED_CHECK_OTHER_KEY'),
  )
  .option('--openapi <file>', 'its OpenAPI document, a file or an address (default: looked for at the usual places)')
  .option('--profile <file>', 'what is known of it, in place of what is found')
  .option('--init', 'write what is found to a profile file, to be completed by hand; nothing is changed')
  .addOption(
    new Option('--collection <name>', "keep to this collection, even if it looks like a system's own; may be repeated")
      .default([], "all that are found, except for a system's own")
      .argParser(repeated),
  )
  .option('--read-only', 'make only safe requests')
  .option('--yes', 'create and delete records without asking')
  .option(
    '--allow-chosen-ids',
    'send integer identifiers that the checker chooses: a server that accepts one may number from there for ever',
  )
  .option('--only <rules>', 'these sections and rules alone, such as DEL,CON-3')
  .addOption(
    new Option('--format <format>', 'how it is told')
      .choices(['text', 'json', 'junit', 'markdown', 'html'])
      .default('text'),
  )
  .option('--output <file>', 'where the report is written (default: standard output)')
  .option('--save <file>', 'keep the report, to compare a later one with')
  .option('--compare <file>', 'say what got better or worse since a report that was saved')
  .option('--insecure', 'trust any certificate')
  .option('--cacert <file>', 'the certificate to trust, PEM')
  .option('--origin <origin>', 'an origin whose pages may read answers')
  .option('--concurrency <number>', 'the most requests at once (default: 6)')
  // Here 1 says that a rule is broken.
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .action(fail(async () => (await import('./check.ts')).checkCommand))

/** Loads and runs a command. An error is explained on standard error, and the exit code is 1. */
function fail<Arguments extends unknown[]>(
  load: () => Promise<(...given: Arguments) => Promise<void>>,
): (...given: Arguments) => Promise<void> {
  return async (...given) => {
    // If nobody reads standard error, a server or an import goes on.
    process.stderr.on('error', () => {})
    try {
      const command = await load()
      await command(...given)
    } catch (error) {
      const { explain } = await import('./explain.ts')
      process.stderr.write(`${explain(error)}\n`)
      process.exitCode = 1
    }
  }
}

await program.parseAsync()
