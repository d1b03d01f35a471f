/** The reference pages of the command line and of the configuration, made from the commands of the program. */
import {
  allCommands,
  type CommandDescription,
  describeProgram,
  type OptionDescription,
} from '../packages/server/src/cli/command-tree.ts'
import { program } from '../packages/server/src/cli/program.ts'

const generated =
  '<!-- Generated from packages/server/src/cli/program.ts by `npm run docs`; change it there or in scripts/command-pages.ts. -->'

function commands(): CommandDescription[] {
  const all = [...allCommands(describeProgram(program))]
  return all.filter(({ path }) => path !== '' && !/(?:^| )help$/.test(path))
}

/** `docs/reference/command-line.md`: every command with its arguments and options. */
export function commandLinePage(): string {
  const all = commands()
  const links = all.map(({ path }) => `[${path}](#${anchor(path)})`)
  return `${generated}

# The command line

For people who run Resourced. After looking a command up you know its arguments, its options and its exit code.

\`resourced help COMMAND\` prints the same. [Configuration](configuration.md) lists the environment variables.

Commands:
${links.join(',\n')}.

## Output and exit codes

Results go to standard output, messages and progress to standard error.

| exit code | meaning |
|---|---|
| 0 | The command succeeded. |
| 1 | The command failed, or its verdict is negative: \`check\` found a broken rule, \`check-changes\` a breaking change, \`doctor\` a problem. |
| 2 | The command line is wrong: an unknown command, option, argument or value. \`check\` and \`check-changes\` also exit with 2 if they cannot come to a verdict. |
| 130 | Ctrl-C ended the command. |

## Signals

\`resourced serve\` stops on \`SIGTERM\` and \`SIGINT\`: it accepts no new requests, finishes the running ones, and closes
the database. A second signal ends it at once.

npm and npx may end before the program has stopped, and a signal to them may not reach it. Where systemd or a container engine
sends the signals, start \`node_modules/.bin/resourced serve resources.yaml\`. In a Dockerfile, write the command as a list,
so that no shell receives the signals:

\`\`\`text
CMD ["node_modules/.bin/resourced", "serve", "resources.yaml"]
\`\`\`

## Completion

Add one line to the configuration of your shell. It completes commands, options, values and files.

| shell | line |
|---|---|
| bash, in \`~/.bashrc\` | \`eval "$(resourced completion bash)"\` |
| zsh, in \`~/.zshrc\` after \`compinit\` | \`eval "$(resourced completion zsh)"\` |
| fish | \`resourced completion fish > ~/.config/fish/completions/resourced.fish\` |

${all.map(commandSection).join('\n')}`
}

function commandSection({ path, description, usage, arguments: given, options }: CommandDescription): string {
  const argumentTable = table(
    ['argument', 'meaning'],
    given.map(({ name, description: meaning, choices }) => [
      `\`${name}\``,
      `${meaning}${choices.length > 0 ? `: ${choices.join(', ')}` : ''}`,
    ]),
  )
  const optionTable = table(
    ['option', 'meaning', 'default', 'environment'],
    options.filter(({ names }) => !names.includes('--help')).map(optionRow),
  )
  const parts = [`## resourced ${path}`, `${description}.`, `\`${usage}\``, argumentTable, optionTable]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function optionRow({ flags, description, value, env, default: normal, isRequired }: OptionDescription): string[] {
  const choices = value?.choices ?? []
  const meaning = description.replace(/ \((?:default|env): [^)]*\)/, '')
  return [
    `\`${flags}\``,
    `${meaning}${choices.length > 0 ? `: ${choices.join(', ')}` : ''}`,
    isRequired ? 'required' : (normal ?? ''),
    env === undefined ? '' : `\`${env}\``,
  ]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function anchor(path: string): string {
  return `resourced-${path.replaceAll(' ', '-')}`
}

/** Variables that no option has. */
const otherVariables: readonly (readonly string[])[] = [
  ['`DATABASE_UNSAFE`', '`--database-unsafe`', '`true` accepts a PostgreSQL that may lose acknowledged changes', ''],
  ['`NODE_ENV`', '', '`development` adds `Server-Timing` to responses', ''],
  [
    '`NODE_OPTIONS`',
    '',
    'Options of Node.js, such as `--max-old-space-size=1024`, or `--import` of an OpenTelemetry SDK for traces',
    '',
  ],
  ['`NO_COLOR`', '', 'Any value turns colours off', ''],
  ['`PGPASSWORD`, `PGPASSFILE`', '', 'The password of PostgreSQL, or the file that contains it', '`~/.pgpass`'],
  [
    '`PGHOST`, `PGPORT`, `PGUSER`, `PGDATABASE`, `PGOPTIONS`',
    '',
    'The parts that the address of PostgreSQL leaves out',
    '',
  ],
  [
    '`NODE_COMPILE_CACHE`, `NODE_DISABLE_COMPILE_CACHE`',
    '',
    'The folder of compiled code, or none',
    'the cache folder of the user',
  ],
]

/** `docs/reference/configuration.md`: what configures a server, with environment variables and defaults. */
export function configurationPage(): string {
  const all = commands()
  const serve = all.find(({ path }) => path === 'serve')
  const options = serve?.options.filter(({ names }) => !names.includes('--help')) ?? []
  const rows = options.map((option) => {
    const [flags = '', meaning = '', normal = '', env = ''] = optionRow(option)
    return [flags, env, meaning, normal]
  })
  const others = all.flatMap((command) =>
    command.options
      .filter(({ env }) => env !== undefined && !options.some((each) => each.env === env))
      .map((option) => {
        const [flags = '', meaning = '', normal = '', env = ''] = optionRow(option)
        return [env, `${flags} of \`${command.path}\``, meaning, normal]
      }),
  )
  return `${generated}

# Configuration

For people who run a server. After looking a setting up you know its option, its environment variable and its default.

The [declaration](declaration.md) describes the interface. The settings on this page describe one server: they are the
options of \`resourced serve\`. An option of the command line takes precedence over its environment variable.
[The command line](command-line.md) has the options of all commands.

## Settings of a server

${table(['option', 'environment', 'meaning', 'default'], rows)}

## Other environment variables

${table(['variable', 'option', 'meaning', 'default'], [...others, ...otherVariables])}
`
}
