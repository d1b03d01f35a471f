/**
 * Reads `x-problems`. A document of Resourced describes all errors of an operation by `4XX` and `5XX`. The extension
 * has the codes, and the status of each code. Here they become one answer for each status, so that an operation that
 * gains or loses a status or a code differs from before.
 */
import { child, type Document, items, members, type Part } from './openapi-document.ts'

interface Answered {
  readonly content: ReadonlyMap<string, Part | undefined>
}

/** The answers with the statuses that `x-problems` of an operation with this method lists in place of their ranges. */
export function withProblems<Answer extends Answered>(
  document: Document,
  { part: operation, method }: { readonly part: Part; readonly method: string },
  answers: ReadonlyMap<string, Answer>,
): Map<string, Answer> {
  const extension = child(document.root, 'x-problems')
  const own = child(operation, 'x-problems')
  // Codes that other operations list too: what changes about them is found there.
  const isRepeated = child(operation, 'x-repeats') !== undefined
  if (extension === undefined || own === undefined || isRepeated) return new Map(answers)
  const isOpen = items(child(operation, 'security')).length === 0 && child(operation, 'security') !== undefined
  const shared = [child(extension, 'everywhere'), child(child(extension, 'methods'), method)].flatMap(items)
  const listed = [...(isOpen ? [] : shared), ...items(own)]
  const statuses = new Map(
    members(child(extension, 'codes')).map(([code, each]) => [code, String(child(each, 'status')?.value)]),
  )
  const byStatus = Map.groupBy(
    listed.map(({ value }) => String(value)),
    (code) => statuses.get(code) ?? '',
  )
  const found = new Map([...answers].filter(([status]) => !/^[45]XX$/.test(status)))
  for (const [status, codes] of byStatus) {
    const range = answers.get(`${status.charAt(0)}XX`)
    if (range !== undefined) found.set(status, ofCodes(range, own, codes))
  }
  return found
}

/** The answer of a range, with these codes only. `*` is any code. */
function ofCodes<Answer extends Answered>(range: Answer, { pointer }: Part, codes: readonly string[]): Answer {
  if (codes.includes('*')) return range
  const content = [...range.content].map(([type, schema]) => {
    const code = { properties: { code: { enum: [...codes].sort() } } }
    const allOf = schema === undefined ? [code] : [{ $ref: `#${schema.pointer}` }, code]
    return [type, { value: { allOf }, pointer }] as const
  })
  return { ...range, content: new Map(content) }
}
