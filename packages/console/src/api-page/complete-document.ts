/**
 * Writes the extensions of the OpenAPI document where Swagger UI shows them: parameters of `x-parameters`, responses of
 * `x-responses`, both of `x-ranges` for every GET, and media types of `x-content` beside the others, and the codes of
 * errors in the descriptions of `4XX` and `5XX`.
 */

interface Reference {
  readonly $ref: string
}

interface Operation {
  readonly parameters?: readonly unknown[]
  readonly responses?: Readonly<Record<string, unknown>>
  readonly security?: readonly unknown[]
  readonly requestBody?: { readonly content?: object; readonly 'x-content'?: object }
  readonly 'x-parameters'?: readonly unknown[]
  readonly 'x-responses'?: Readonly<Record<string, unknown>>
  readonly 'x-problems'?: readonly string[]
}

interface Described {
  readonly 'x-ranges'?: Pick<Operation, 'parameters' | 'responses'>
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly 'x-problems'?: {
    readonly everywhere: readonly string[]
    readonly methods?: Readonly<Record<string, readonly string[]>>
    readonly codes: Readonly<Record<string, { readonly status: number; readonly title: string }>>
  }
  readonly components?: { readonly responses?: Readonly<Record<string, object>> }
}

/** The document as people should see it. */
export function completeDocument(document: object): object {
  if (!isDescribed(document)) return document
  const paths = Object.entries(document.paths).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([key, value]) => [key, isOperation(value) ? complete(value, document, key) : value]),
    ),
  ])
  return { ...document, paths: Object.fromEntries(paths) }
}

function isDescribed(document: object): document is Described {
  return 'paths' in document
}

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'responses' in value
}

function complete(operation: Operation, document: Described, method: string): Operation {
  const { 'x-parameters': parameters = [], 'x-responses': more = {}, 'x-problems': own = [], ...rest } = operation
  const { requestBody } = rest
  const ranges = (method === 'get' && document['x-ranges']) || {}
  const { codes = {}, everywhere = [], methods = {} } = document['x-problems'] ?? {}
  const isOpen = operation.security?.length === 0
  const listed = [...own, ...(isOpen ? [] : [...everywhere, ...(methods[method] ?? [])])].sort()
  const responses = Object.entries({ ...rest.responses, ...ranges.responses, ...more }).map(([status, response]) => {
    const ofStatus = listed.filter((code) => /^[45]XX$/.test(status) && String(codes[code]?.status)[0] === status[0])
    return [status, ofStatus.length === 0 ? response : withCodes(response, ofStatus, codes, document)]
  })
  return {
    ...rest,
    parameters: [...(rest.parameters ?? []), ...parameters, ...(ranges.parameters ?? [])],
    ...(requestBody && {
      requestBody: { ...requestBody, content: { ...requestBody.content, ...requestBody['x-content'] } },
    }),
    responses: Object.fromEntries(responses),
  }
}

function withCodes(
  response: unknown,
  listed: readonly string[],
  codes: NonNullable<Described['x-problems']>['codes'],
  { components }: Described,
): object {
  const name = (response as Reference).$ref.split('/').at(-1) ?? ''
  const lines = listed.map((code) => `- ${codes[code]?.status} \`${code}\`: ${codes[code]?.title}.`)
  return { ...components?.responses?.[name], description: lines.join('\n') }
}
