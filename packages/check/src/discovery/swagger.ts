/** Converts Swagger 2.0 documents to OpenAPI 3.0, as far as discovery reads them. */
import { isObject, type JsonObject, objectOf, valueAt } from '../values/json.ts'

const methods = ['get', 'post', 'put', 'patch', 'delete']

/** The same document as OpenAPI 3.0. Its schemas stay below `definitions`, where its references lead. */
export function convertSwagger(root: JsonObject): JsonObject {
  const { basePath = '/' } = root
  const paths = Object.entries(objectOf(root['paths'])).map(([path, value]) => {
    const item = objectOf(value)
    const shared = split(root, item['parameters'])
    const operations = methods.flatMap((method) =>
      isObject(item[method]) ? [[method, convertOperation(root, item[method], shared)] as const] : [],
    )
    return [path, { parameters: shared.parameters, ...Object.fromEntries(operations) }]
  })
  // The document names the host by which others reach the server. Only the path counts.
  return { ...root, openapi: '3.0.3', servers: [{ url: basePath }], paths: Object.fromEntries(paths) }
}

interface Parameters {
  readonly parameters: readonly JsonObject[]
  /** Schema of the body; `undefined` if there is none. */
  readonly body: unknown
}

function convertOperation(root: JsonObject, operation: JsonObject, shared: Parameters): JsonObject {
  const { parameters, body = shared.body } = split(root, operation['parameters'])
  const responses = Object.entries(objectOf(operation['responses'])).map(([status, each]) => {
    const response = followed(root, each)
    return [status, isObject(response['schema']) ? { ...response, ...contentOf(response['schema']) } : response]
  })
  return {
    ...operation,
    parameters,
    responses: Object.fromEntries(responses),
    ...(body !== undefined && { requestBody: contentOf(body) }),
  }
}

function contentOf(schema: unknown): JsonObject {
  return { content: { 'application/json': { schema } } }
}

/** Parameters as in OpenAPI 3.0, and the body that the others describe. */
function split(root: JsonObject, value: unknown): Parameters {
  const all = (Array.isArray(value) ? value : []).map((each) => followed(root, each))
  const form = all.filter((each) => each['in'] === 'formData' && typeof each['name'] === 'string')
  const fields = {
    type: 'object',
    required: form.filter(({ required }) => required === true).map(({ name }) => name),
    properties: Object.fromEntries(form.map((each) => [each['name'], schemaOf(each)])),
  }
  return {
    parameters: all
      .filter((each) => each['in'] !== 'body' && each['in'] !== 'formData')
      .map((each) => ({ ...each, schema: schemaOf(each) })),
    body: all.find((each) => each['in'] === 'body')?.['schema'] ?? (form.length > 0 ? fields : undefined),
  }
}

/** The schema of a parameter, whose keywords stand beside its name. */
function schemaOf({ name: _, in: __, required: ___, ...schema }: JsonObject): JsonObject {
  return schema
}

function followed(root: JsonObject, value: unknown): JsonObject {
  const { $ref } = objectOf(value)
  return objectOf(typeof $ref === 'string' && $ref.startsWith('#') ? valueAt(root, $ref.slice(1)) : value)
}
