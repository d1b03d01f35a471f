/** `resourced completion bash|zsh|fish`: scripts that complete commands, options and values, made from the program. */
import type { Command } from 'commander'
import { print } from 'resourced-check/terminal'
import { allCommands, type CommandDescription, describeProgram, type OptionDescription } from './command-tree.ts'

type Shell = 'bash' | 'zsh' | 'fish'

/** Prints the script of a shell. */
export async function completionCommand(shell: Shell, _: object, command: Command): Promise<void> {
  print(completionScript(shell, command.parent ?? command))
}

/** The script of a shell for a program. */
export function completionScript(shell: Shell, program: Command): string {
  const commands = [...allCommands(describeProgram(program))]
  return writers[shell](commands)
}

type Commands = readonly CommandDescription[]

const writers: Readonly<Record<Shell, (commands: Commands) => string>> = { bash, zsh, fish }

/** Quotes a text for a shell of the Bourne family. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** The branches of a `case` on the path of a command that set variables. */
function branches(commands: Commands, write: (command: CommandDescription) => string): string {
  return commands.map((command) => `    ${quoted(command.path)}) ${write(command)} ;;`).join('\n')
}

function valued({ options }: CommandDescription): string {
  return options.flatMap(({ names, value }) => (value === undefined ? [] : names)).join(' ')
}

/** The values of options, as branches of a `case` on the path and the option; an empty `path` writes none for paths. */
function valueBranches(commands: Commands, write: (values: readonly string[]) => string, path: string): string {
  const lines = commands.flatMap((command) =>
    command.options.flatMap(({ names, value }) => {
      if (value === undefined) return []
      const pattern = names.map((name) => quoted(`${command.path} ${name}`)).join('|')
      if (value.choices.length > 0) return [`      ${pattern}) ${write(value.choices)} ;;`]
      return value.isPath && path !== '' ? [`      ${pattern}) ${path} ;;`] : []
    }),
  )
  return lines.join('\n')
}

/** The first argument's values, as branches of a `case` on the path. */
function argumentBranches(commands: Commands, write: (values: readonly string[]) => string, path: string): string {
  return commands
    .flatMap((command) => {
      const choices = command.arguments.flatMap((each) => each.choices)
      if (choices.length > 0) return [`      ${quoted(command.path)}) ${write(choices)} ;;`]
      return path !== '' && command.arguments.some(({ isPath }) => isPath)
        ? [`      ${quoted(command.path)}) ${path} ;;`]
        : []
    })
    .join('\n')
}

/** Finds the path of the command in the words before the cursor, and the option that the next word belongs to. */
const findPath = (words: string) => `  for word in ${words}; do
    if [ -n "$option" ]; then
      if [ "$word" != = ]; then option=''; fi
      continue
    fi
    _resourced_describe "$place"
    case "$word" in
      -*=*) ;;
      -*) case " $valued " in *" $word "*) option=$word ;; esac ;;
      *) case " $subcommands " in *" $word "*) place="\${place:+$place }$word" ;; esac ;;
    esac
  done
  _resourced_describe "$place"`

function describeFunction(commands: Commands): string {
  const lines = branches(commands, (command) => {
    const subcommands = command.commands.map(({ name }) => name).join(' ')
    const flags = command.options.flatMap(({ names }) => names).join(' ')
    return `subcommands=${quoted(subcommands)} flags=${quoted(flags)} valued=${quoted(valued(command))}`
  })
  return `_resourced_describe() {
  case "$1" in
${lines}
  esac
}`
}

function bash(commands: Commands): string {
  const reply = (values: readonly string[]) => `values=${quoted(values.join(' '))}`
  return `# Completion of resourced for bash. Add to ~/.bashrc:  eval "$(resourced completion bash)"
${describeFunction(commands)}
_resourced() {
  local place='' option='' word subcommands flags valued values='' current=\${COMP_WORDS[COMP_CWORD]}
  if [ "$current" = = ]; then current=''; fi
${findPath(`"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  COMPREPLY=()
  if [ -n "$option" ]; then
    case "$place $option" in
${valueBranches(commands, reply, '')}
    esac
  elif [ "\${current#-}" != "$current" ]; then
    values=$flags
  elif [ -n "$subcommands" ]; then
    values=$subcommands
  else
    case "$place" in
${argumentBranches(commands, reply, '')}
    esac
  fi
  # Without a reply, bash completes names of files.
  if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$current")); fi
}
complete -o bashdefault -o default -F _resourced resourced
`
}

function zsh(commands: Commands): string {
  const add = (values: readonly string[]) => `compadd -- ${values.map(quoted).join(' ')}`
  return `#compdef resourced
# Completion of resourced for zsh. Add to ~/.zshrc after compinit:  eval "$(resourced completion zsh)"
${describeFunction(commands)}
_resourced() {
  local place='' option='' word subcommands flags valued current=\${words[CURRENT]}
${findPath(`"\${(@)words[2,CURRENT-1]}"`)}
  if [ -n "$option" ]; then
    case "$place $option" in
${valueBranches(commands, add, '_files')}
    esac
  elif [ "\${current#-}" != "$current" ]; then
    compadd -- \${=flags}
  elif [ -n "$subcommands" ]; then
    compadd -- \${=subcommands}
  else
    case "$place" in
${argumentBranches(commands, add, '_files')}
    esac
  fi
}
if [ "$funcstack[1]" = _resourced ]; then _resourced "$@"; else compdef _resourced resourced; fi
`
}

function fish(commands: Commands): string {
  const text = (value: string) => `'${value.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`
  const lines = commands.flatMap((command) => {
    const at = `complete -c resourced -n ${text(`__resourced_at ${text(command.path)}`)}`
    const below = command.commands.map(({ name, description }) => `${at} -a ${text(name)} -d ${text(description)}`)
    const choices = command.arguments.flatMap((each) => each.choices)
    const given = choices.length > 0 ? [`${at} -a ${text(choices.join(' '))}`] : []
    const files = command.arguments.some(({ isPath }) => isPath) ? [`${at} -F`] : []
    return [...below, ...given, ...files, ...command.options.map((option) => `${at} ${fishOption(option, text)}`)]
  })
  const tables = commands.map((command) => {
    const words = [...command.commands.map(({ name }) => name), ...valued(command).split(' ')].filter(
      (each) => each !== '',
    )
    return `        case ${text(command.path)}
            string join \\n -- ${words.map(text).join(' ')}`
  })
  return `# Completion of resourced for fish. Write it to ~/.config/fish/completions/resourced.fish
function __resourced_words
    switch "$argv[1]"
${tables.join('\n')}
    end
end
function __resourced_at
    set -l path ''
    set -l skip 0
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
        else if contains -- $word (__resourced_words "$path")
            if string match -q -- '-*' $word
                set skip 1
            else
                set path (string trim -- "$path $word")
            end
        end
    end
    test "$path" = "$argv[1]"
end
complete -c resourced -f
${lines.join('\n')}
`
}

function fishOption({ names, description, value }: OptionDescription, text: (value: string) => string): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
  const values =
    value === undefined
      ? []
      : value.choices.length > 0
        ? [`-x -a ${text(value.choices.join(' '))}`]
        : [value.isPath ? '-r -F' : '-x']
  return [...flags, ...values, `-d ${text(description)}`].join(' ')
}
