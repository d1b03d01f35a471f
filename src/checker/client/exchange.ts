/** What was asked of a server, and what came back: the evidence of every verdict. */

/** Fields of a header section, as they stood: names in any case, one for each line. */
export type Fields = readonly (readonly [name: string, value: string])[]

/** A request as it was sent. */
export interface Asked {
  readonly method: string
  /** Whole: `https://api.example.com/v1/cities`. */
  readonly url: string
  readonly fields: Fields
  readonly body?: string | undefined
  /** All that was sent, one byte for each character, where it is no request as clients make them. */
  readonly bytes?: string | undefined
}

/** An answer as it was received. */
export interface Answer {
  readonly status: number
  /** `1.1`. */
  readonly version: string
  readonly fields: Fields
  /** As text; bytes that are no UTF-8 are replaced. */
  readonly body: string
}

/** A request, and its answer where one came. */
export interface Exchange {
  /** The step of the case that made it. */
  readonly step: string
  readonly asked: Asked
  readonly answer?: Answer | undefined
  /** Why there is no answer. */
  readonly failure?: string | undefined
  /** What came after the last whole answer, where bytes were sent: nothing, if all is well. */
  readonly rest?: string | undefined
  readonly milliseconds: number
}

/** The value of a field, lines of one name joined as RFC 9110 section 5.3 says; `undefined` where it is absent. */
export function fieldOf({ fields }: Pick<Answer, 'fields'>, name: string): string | undefined {
  const lower = name.toLowerCase()
  const values = fields.filter(([each]) => each.toLowerCase() === lower).map(([, value]) => value)
  return values.length === 0 ? undefined : values.join(', ')
}

const read = new WeakMap<Answer, { readonly value: unknown }>()

/** The JSON of an answer's body; `undefined` where it is none. */
export function jsonOf(answer: Answer): unknown {
  let known = read.get(answer)
  if (known === undefined) {
    known = { value: parsed(answer.body) }
    read.set(answer, known)
  }
  return known.value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
