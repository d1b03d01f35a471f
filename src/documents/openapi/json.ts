/** The document as the JSON that it is. */

/** A JSON object of the document. */
export type Json = { readonly [key: string]: unknown }

/** A Reference Object to a component: `refTo('schemas', 'Task')`. */
export function refTo(kind: 'schemas' | 'parameters' | 'responses' | 'headers', name: string): Json {
  return { $ref: `#/components/${kind}/${name}` }
}

/** The schema of an object with exactly these properties, and no others. */
export function object(properties: Json, required: readonly string[]): Json {
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false }
}
