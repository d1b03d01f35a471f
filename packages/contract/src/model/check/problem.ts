/** The mistakes of a declaration: what they are, and their text for people. */
import { codeFrame, type SourcePlace } from './source-place.ts'

/** One mistake. */
export interface Problem {
  /** The place in the declaration: `resources.tasks.fields.project_id.onDelete`; empty: the whole declaration. */
  readonly path: string
  /** What is wrong; continues the path. */
  readonly message: string
  /** What to write instead, a sentence. */
  readonly remedy: string
  /** The place in the file, if the declaration is YAML or JSON, or if its syntax is wrong. */
  readonly source?: SourcePlace
}

/** A declaration that cannot be served, with all of its mistakes. */
export class DeclarationError extends Error {
  readonly problems: readonly Problem[]
  /** The file of the declaration; `undefined`: the declaration was passed as a value. */
  readonly file: string | undefined

  constructor(problems: readonly Problem[], file?: string) {
    super(formatProblems(problems, file))
    this.name = 'DeclarationError'
    this.problems = problems
    this.file = file
  }
}

/** The parts of a message that differ in colour. */
export type Emphasis = 'heading' | 'path' | 'remedy' | 'source' | 'mark'

/**
 * The problems as text for a terminal: numbered, each with its place, what is wrong, what to write instead, and the
 * line of the file.
 *
 * @param file of the declaration, for the heading
 * @param paint colours a part of the text; default: no colours
 */
export function formatProblems(
  problems: readonly Problem[],
  file?: string,
  paint: (emphasis: Emphasis, text: string) => string = (_, text) => text,
): string {
  const number = problems.length === 1 ? 'One thing is' : `${problems.length} things are`
  const indent = ' '.repeat(String(problems.length).length + 4)
  const blocks = problems.map(({ path, message, remedy, source }, index) => {
    const label = `${index + 1}.`.padStart(indent.length - 1)
    const lines = [message, paint('remedy', `→ ${remedy}`)]
    if (source !== undefined) {
      const [text, marks] = codeFrame(source)
      const place = `${file ?? 'the declaration'}:${source.line}:${source.column}`
      lines.push('', paint('source', place), text, paint('mark', marks))
    }
    const body = lines.map((line) => (line === '' ? '' : `${indent}${line}`)).join('\n')
    return `${label} ${paint('path', path === '' ? 'the declaration' : path)}\n${body}`
  })
  return [paint('heading', `${number} wrong in ${file ?? 'the declaration'}:`), ...blocks].join('\n\n')
}
