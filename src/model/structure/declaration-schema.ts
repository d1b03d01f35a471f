/** The JSON Schema of declarations, in parts by name, as the checks read it and as it is published. */
import { condition, conditionValue } from './condition.ts'
import { field, innerSchema } from './field.ts'
import { declaration, limits, version } from './interface.ts'
import type { Node } from './node.ts'
import { accessRule, change, deletion, resource, rule } from './resource.ts'

/** The parts that are described on their own, in the order of the reference page. */
export const parts: Readonly<Record<string, Node>> = {
  resource,
  field,
  schema: innerSchema,
  accessRule,
  condition,
  conditionValue,
  deletion,
  rule,
  version,
  change,
  limits,
}

/** The whole declaration. */
export const root = declaration

/** The node that a reference means, with what the reference says itself. */
export function resolve(node: Node): Node {
  if (node.$ref === undefined) return node
  const { $ref, ...own } = node
  return { ...(parts[$ref.slice('#/$defs/'.length)] as Node), ...own }
}

/** The JSON Schema of declarations (draft 2020-12). Editors complete and check YAML and JSON declarations by it. */
export function declarationSchema(): Readonly<Record<string, unknown>> {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Resourced declaration',
    ...(published(root) as object),
    $defs: published(parts),
  }
}

/** The JSON Schema of declarations as the text of a file. */
export function declarationSchemaText(): string {
  return `${JSON.stringify(declarationSchema(), undefined, 2)}\n`
}

function published(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(published)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (key === 'wording' ? [] : [[key, published(each)]])),
  )
}
