/** The commands of a program as data, for completions of shells and for the reference page. */
import type { Argument, Command, Option } from 'commander'

/** A value that an option or an argument takes. */
export interface ValueDescription {
  /** As the help has it: `<file>`. */
  readonly name: string
  readonly description: string
  /** The only values; empty: any value. */
  readonly choices: readonly string[]
  /** Whether it is the path of a file or folder. */
  readonly isPath: boolean
}

/** An option. */
export interface OptionDescription {
  /** As the help has it: `-p, --port <number>`. */
  readonly flags: string
  /** `--port`, and `-p` where there is a short name. */
  readonly names: readonly string[]
  readonly description: string
  /** `undefined`: the option takes no value. */
  readonly value: ValueDescription | undefined
  /** The environment variable; `undefined`: none. */
  readonly env: string | undefined
  /** As text for people; `undefined`: none. */
  readonly default: string | undefined
  readonly isRequired: boolean
}

/** A command, with those below it. */
export interface CommandDescription {
  /** The words after `resourced`: `keys create`; empty: the program itself. */
  readonly path: string
  readonly name: string
  readonly description: string
  /** As the help has it, without the options: `resourced keys revoke <id>`. */
  readonly usage: string
  readonly arguments: readonly ValueDescription[]
  readonly options: readonly OptionDescription[]
  readonly commands: readonly CommandDescription[]
}

/** Describes a program and all of its commands. */
export function describeProgram(program: Command): CommandDescription {
  return describeCommand(program, [])
}

/** @param words the words after `resourced` */
function describeCommand(command: Command, words: readonly string[]): CommandDescription {
  const help = command.createHelp()
  const given = command.registeredArguments.map(describeArgument)
  return {
    path: words.join(' '),
    name: command.name(),
    description: command.description(),
    usage: ['resourced', ...words, ...given.map(({ name }) => name)].join(' '),
    arguments: given,
    options: help.visibleOptions(command).map(describeOption),
    commands: help.visibleCommands(command).map((each) => describeCommand(each, [...words, each.name()])),
  }
}

/** A command and all commands below it, in order. */
export function* allCommands(command: CommandDescription): Generator<CommandDescription> {
  yield command
  for (const each of command.commands) yield* allCommands(each)
}

// What the help calls a value that is the path of a file or folder.
const pathNames = new Set(['file', 'folder', 'old', 'new'])

function describeArgument(argument: Argument): ValueDescription {
  const word = argument.name()
  const name = argument.required ? `<${word}>` : `[${word}]`
  return { name, description: argument.description, choices: argument.argChoices ?? [], isPath: pathNames.has(word) }
}

function describeOption(option: Option): OptionDescription {
  const { flags, description, long, short, envVar, mandatory, argChoices = [] } = option
  const name = /[<[][^>\]]*[>\]]/.exec(flags)?.[0]
  const value =
    name === undefined
      ? undefined
      : { name, description, choices: argChoices, isPath: pathNames.has(name.slice(1, -1)) }
  return {
    ...{ flags, description, value, env: envVar, isRequired: mandatory },
    names: [long, short].filter((each) => each !== undefined && each !== null),
    default: defaultOf(option),
  }
}

function defaultOf({ defaultValue, defaultValueDescription, description }: Option): string | undefined {
  // A default that depends on something is a part of the description.
  if (defaultValueDescription !== undefined) return defaultValueDescription
  if (defaultValue !== undefined && defaultValue !== '') return String(defaultValue)
  return /\(default: ([^)]*)\)/.exec(description)?.[1]
}
