/**
 * The commands of a program as data, for completions of shells and for the reference page.
 *
 * `resourced completion bash|zsh|fish`: scripts that complete command lines. A script asks the program, so that it fits
 * every later version: `resourced complete -- WORDS` prints what the last of the words can become.
 */
import type { Argument, Command, Option } from 'commander'
import { print } from 'resourced-check/terminal'

/** A value that an option or an argument takes. */
export interface ValueDescription {
  /** As the help has it: `<file>`. */
  readonly name: string
  readonly description: string
  /** The only values; empty: any value. */
  readonly choices: readonly string[]
}

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

function describeArgument(argument: Argument): ValueDescription {
  const word = argument.name()
  const name = argument.required ? `<${word}>` : `[${word}]`
  return { name, description: argument.description, choices: argument.argChoices ?? [] }
}

function describeOption(option: Option): OptionDescription {
  const { flags, description, long, short, envVar, mandatory, argChoices = [] } = option
  const name = /[<[][^>\]]*[>\]]/.exec(flags)?.[0]
  const value = name === undefined ? undefined : { name, description, choices: argChoices }
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

const scripts = {
  bash: `# Completion of resourced for bash. Add to ~/.bashrc:  eval "$(resourced completion bash)"
_resourced() {
  local IFS=$'\\n'
  # Without a reply, bash completes names of files.
  COMPREPLY=($("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o bashdefault -o default -F _resourced resourced
`,
  zsh: `#compdef resourced
# Completion of resourced for zsh. Add to ~/.zshrc after compinit:  eval "$(resourced completion zsh)"
_resourced() {
  local -a found=("\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [ -n "$found" ]; then compadd -- "\${(@)found%%$'\\t'*}"; else _files; fi
}
if [ "$funcstack[1]" = _resourced ]; then _resourced "$@"; else compdef _resourced resourced; fi
`,
  fish: `# Completion of resourced for fish. Write it to ~/.config/fish/completions/resourced.fish
function __resourced
    set -l found (resourced complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
    if set -q found[1]
        string join \\n -- $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c resourced -f -a '(__resourced)'
`,
}

/** Prints the script of a shell. */
export async function completionCommand(shell: keyof typeof scripts): Promise<void> {
  print(scripts[shell])
}

/** Prints what the last of some words can become: a line for each, with its description after a tab. */
export async function completeCommand(words: readonly string[], _: object, command: Command): Promise<void> {
  const found = completionsOf(describeProgram(command.parent ?? command), words)
  print(found.map(({ name, description = '' }) => `${name}\t${description}\n`).join(''))
}

/** What a word can become. */
interface Completion {
  readonly name: string
  readonly description?: string
}

/**
 * What the last of some words can become; nothing where any value, or a file, may follow.
 *
 * @param words those after `resourced`
 */
export function completionsOf(program: CommandDescription, words: readonly string[]): readonly Completion[] {
  let command = program
  let option: CommandDescription['options'][number] | undefined
  for (const word of words.slice(0, -1)) {
    // Bash splits `--port=80` into three words.
    if (option !== undefined) option = word === '=' ? option : undefined
    else if (word.startsWith('-')) option = command.options.find(({ names, value }) => value && names.includes(word))
    else command = command.commands.find(({ name }) => name === word) ?? command
  }
  const [last = ''] = words.slice(-1)
  const current = last === '=' ? '' : last
  return possible(command, option?.value?.choices, current).filter(({ name }) => name.startsWith(current))
}

function possible(
  { commands, options, arguments: given }: CommandDescription,
  choices: readonly string[] | undefined,
  current: string,
): readonly Completion[] {
  if (choices !== undefined) return choices.map((name) => ({ name }))
  if (current.startsWith('-')) {
    return options.flatMap(({ names, description }) => names.map((name) => ({ name, description })))
  }
  return commands.length > 0 ? commands : given.flatMap((each) => each.choices.map((name) => ({ name })))
}
