/** The keywords of one schema object, without what `$ref`, `allOf`, `anyOf` and `oneOf` bring. */
import { canonical } from '../openapi/canonical.ts'
import { child, type Document, isObject, items, members, type Part } from '../openapi/document.ts'
import { limitsOf, type Shape, type TypeName, wholeType } from './shape.ts'

/** Shapes of one schema object; `implicit`: it does not speak of types at all, so that `null` is not excluded either. */
export interface Local {
  readonly nullable: boolean | 'implicit'
  readonly shapes: readonly Shape[]
}

const typeNames: readonly string[] = ['string', 'number', 'integer', 'boolean', 'array', 'object']

// Compared by being equal or not: what they admit cannot be told apart without trying every value.
const others = {
  any: ['not', 'if', 'then', 'else', '$dynamicRef'],
  array: ['contains', 'minContains', 'maxContains', 'prefixItems', 'unevaluatedItems', 'uniqueItems'],
  object: [...['patternProperties', 'propertyNames', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties']],
  string: ['contentEncoding', 'contentMediaType'],
}

/** Reads the keywords of a schema that stand beside one another. */
export function localShapes(document: Document, part: Part): Local {
  const { value, pointer } = part
  if (value === false) return { nullable: false, shapes: [] }
  if (!isObject(value)) return { nullable: 'implicit', shapes: [wholeType('any', pointer)] }
  const said = [value['type']].flat().filter((name) => typeof name === 'string')
  const types = typeNames.filter((name) => said.includes(name) && !(name === 'integer' && said.includes('number')))
  const listed = valuesOf(value)
  const shapes = (said.length === 0 ? ['any' as const] : (types as TypeName[])).flatMap((type): Shape[] => {
    const shape = keywords(document, part, type)
    const values = listed && new Map([...listed].filter(([, each]) => each !== null && fits(each, type)))
    return values === undefined ? [shape] : values.size === 0 ? [] : [{ ...shape, values }]
  })
  const nullAllowed = said.length === 0 ? 'implicit' : said.includes('null')
  const nullListed = listed === undefined || listed.has('null')
  if (listed !== undefined) return { nullable: nullAllowed !== false && nullListed, shapes }
  return { nullable: nullAllowed, shapes }
}

function valuesOf(schema: Readonly<Record<string, unknown>>): Map<string, unknown> | undefined {
  const listed = Array.isArray(schema['enum'])
    ? (schema['enum'] as unknown[])
    : Object.hasOwn(schema, 'const')
      ? [schema['const']]
      : undefined
  return listed && new Map(listed.map((each) => [canonical(each), each]))
}

function fits(value: unknown, type: TypeName): boolean {
  return type === 'any' || typeOf(value) === type || (type === 'number' && typeOf(value) === 'integer')
}

/** The type of a value. */
export function typeOf(value: unknown): TypeName {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'object' ? 'object' : (typeof value as TypeName)
}

function keywords(document: Document, part: Part, type: TypeName): Shape {
  const schema = part.value as Readonly<Record<string, unknown>>
  const is = (...names: readonly TypeName[]) => type === 'any' || names.includes(type)
  const texts = [
    ...others.any,
    ...(['array', 'object', 'string'] as const).flatMap((each) => (is(each) ? others[each] : [])),
  ]
  const pattern = schema['pattern']
  const format = schema['format']
  return {
    ...wholeType(type, part.pointer),
    limits: limits(schema, type, document.dialect),
    patterns: new Set(is('string') && typeof pattern === 'string' ? [pattern] : []),
    formats: new Set(is('string', 'number', 'integer') && typeof format === 'string' ? [format] : []),
    ...(is('object') && object(part)),
    ...(is('array') && { items: itemsOf(part) }),
    others: new Map(
      texts.flatMap((keyword): [string, string][] => {
        const said = schema[keyword]
        return said === undefined || said === false ? [] : [[keyword, canonical(said)]]
      }),
    ),
  }
}

function object(part: Part): Pick<Shape, 'properties' | 'required' | 'additional'> {
  const more = child(part, 'additionalProperties')
  return {
    properties: new Map(members(child(part, 'properties')).map(([name, each]) => [name, [each]])),
    required: new Set(items(child(part, 'required')).map(({ value }) => String(value))),
    additional: more?.value === false ? 'closed' : isObject(more?.value) && more !== undefined ? [more] : 'open',
  }
}

function itemsOf(part: Part): Shape['items'] {
  const each = child(part, 'items')
  return each !== undefined && isObject(each.value) ? [each] : undefined
}

function limits(
  schema: Readonly<Record<string, unknown>>,
  type: TypeName,
  dialect: Document['dialect'],
): Map<string, number> {
  const named = type === 'any' ? Object.values(limitsOf).flat() : limitsOf[type]
  const found = new Map(
    named.flatMap((keyword): [string, number][] =>
      typeof schema[keyword] === 'number' ? [[keyword, schema[keyword] as number]] : [],
    ),
  )
  // In 3.0 these two are true or false, and say of which kind the other is.
  for (const [keyword, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const value = found.get(keyword)
    if (dialect !== '3.0' || schema[exclusive] !== true || value === undefined) continue
    found.delete(keyword)
    found.set(exclusive, value)
  }
  // A length is never less than nothing.
  for (const keyword of ['minLength', 'minItems', 'minProperties']) if (found.get(keyword) === 0) found.delete(keyword)
  return found
}
