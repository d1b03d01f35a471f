/** The reference page of declarations, made from their structure. */
import { parts, resolve, root } from 'resourced-contract/model/structure/declaration-schema'
import type { Node } from 'resourced-contract/model/structure-node'

const titles: Readonly<Record<string, string>> = {
  resource: 'Resource',
  field: 'Field',
  schema: 'Inner schema',
  accessRule: 'Access rule',
  condition: 'Condition',
  conditionValue: 'Value of a condition',
  deletion: 'Deletion',
  rule: 'Business rule',
  version: 'Version',
  change: 'Change',
  tenants: 'Tenants',
  limits: 'Limits',
}

/** The Markdown of the reference page. */
export function declarationPage(): string {
  const sections = Object.entries(parts).map(([name, node]) => section(titles[name] as string, name, node))
  return `# The declaration

For people who write a declaration: every key, its values and its default. A declaration is plain data in YAML, JSON,
JavaScript or TypeScript.

Editors complete and check YAML and JSON declarations by a JSON Schema. It is in the npm package as
\`resourced/declaration.schema.json\`, and \`resourced schema\` prints it. Name it in the first line of a YAML file:

\`\`\`yaml
# yaml-language-server: $schema=./node_modules/resourced/declaration.schema.json
name: library
resources:
  books:
    fields:
      title: { type: string, maxLength: 200, search: true }
      status: { enum: [available, lent], default: available }
    access: { read: anyone, create: "role:librarian" }
\`\`\`

or as \`"$schema"\` in a JSON file. Both are optional, and Resourced ignores them. In TypeScript, \`defineInterface\`
gives the same completion, checks names and values, and infers [types](javascript-api.md#types-of-an-interface).

## Interface

${root.description}

${keysOf(root)}
${sections.join('\n')}
${yamlNotes}`
}

function section(title: string, name: string, node: Node): string {
  const lines = [`## ${title}`, '', `${node.description ?? ''}`, '']
  if (name === 'field') {
    lines.push('### Words of Resourced', '', keysOf(node, isWord), '### Keywords of JSON Schema', '')
    lines.push(keysOf(node, (key) => departing.has(key)))
    const standard = Object.keys(inner.properties ?? {}).filter((key) => !departing.has(key))
    lines.push(`The others mean what [JSON Schema 2020-12](${jsonSchema}) says: ${standard.map(code).join(', ')}.`, '')
  } else if (name === 'schema') {
    lines.push(
      'An object of the keywords of JSON Schema that fields have too, or `true` or `false`. Decimals, references and',
    )
    lines.push('the other words of Resourced belong to the field itself.', '')
  } else if (node.anyOf !== undefined) lines.push(alternatives(node.anyOf))
  else if (node.properties !== undefined) lines.push(keysOf(node))
  if (name === 'accessRule') lines.push('Of an array of rules, one matching rule is enough.', '')
  if (name === 'condition') {
    lines.push(
      'Every other key is a field. Its value is a constant, a value as below, or an object of comparisons:',
      '',
    )
    lines.push(keysOf(node.additionalProperties as Node))
  }
  if (node.examples !== undefined) lines.push('Examples:', '', '```yaml', ...node.examples.map(flow), '```', '')
  return lines.join('\n')
}

const inner = parts['schema'] as Node

const jsonSchema = 'https://json-schema.org/understanding-json-schema/reference'

/** The keywords of JSON Schema of which the standard does not say everything that holds here. */
const departing = new Set([
  ...['type', 'description', 'default', 'readOnly', 'writeOnly', 'format', 'pattern', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'required', 'contentMediaType', 'contentEncoding'],
  ...['contentSchema', '$ref'],
])

/** Whether a key of a field is none of JSON Schema. */
function isWord(key: string): boolean {
  return inner.properties?.[key] === undefined
}

/** A table of keys, and the tables of the objects in it that have no section of their own. */
function keysOf(node: Node, isShown: (key: string) => boolean = () => true): string {
  const entries = Object.entries(node.properties ?? {}).filter(([key]) => isShown(key))
  const rows = entries.map(([key, each]) => {
    const standard = node.required?.includes(key) ? 'required' : each.default === undefined ? '' : code(each.default)
    return `| \`${key}\` | ${kindOf(each)} | ${standard} | ${cell(resolve(each).description ?? '')} |`
  })
  const nested = entries.flatMap(([key, each]) => {
    const held = each.$ref === undefined ? [each, each.additionalProperties, each.items] : []
    const object = held.find((inside) => inside !== undefined && inside !== false && inside.properties !== undefined)
    return object
      ? [`### ${key}`, '', object === each ? '' : `${(object as Node).description}\n`, keysOf(object as Node)]
      : []
  })
  return [
    '| key | value | default | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
    ...nested.filter((line, index) => line !== '' || nested[index - 1] !== ''),
  ].join('\n')
}

function alternatives(nodes: readonly Node[]): string {
  if (nodes.every((node) => node.properties !== undefined && node.const === undefined && node.type === 'object')) {
    return nodes
      .toReversed()
      .map((node) => `${node.description}\n\n${keysOf(node)}`)
      .join('\n')
  }
  return [
    '| value | meaning |',
    '|---|---|',
    ...nodes.map((node) => `| ${kindOf(node)} | ${cell(node.description ?? '')} |`),
    '',
  ].join('\n')
}

/** The values of a node in a few words. */
function kindOf(node: Node): string {
  if (node.$ref !== undefined) {
    const title = titles[node.$ref.slice('#/$defs/'.length)] as string
    return `[${title.toLowerCase()}](#${title.toLowerCase().replaceAll(' ', '-')})`
  }
  if (node.const !== undefined) return code(node.const)
  if (node.enum !== undefined) return node.enum.length > 12 ? 'text' : node.enum.map(code).join(', ')
  if (node.not !== undefined && node.type === undefined) return 'function'
  if (node.anyOf !== undefined && node.properties === undefined) return alternativesOf(node.anyOf.map(kindOf))
  if (node.type === 'array') return `array of ${node.items === undefined ? 'values' : kindOf(node.items)}`
  if (node.type === 'object') return objectKind(node)
  if (node.type === 'integer') return numberKind(node)
  if (node.type === 'boolean') return '`true`, `false`'
  if (Array.isArray(node.type)) return node.type.map((type) => typeWords[type] ?? type).join(' or ')
  return typeWords[node.type as string] ?? 'any value'
}

/** The kinds of a value in words: an array of the first kind is named by it. */
function alternativesOf(kinds: readonly string[]): string {
  const [one = '', list, ...rest] = kinds
  return list === `array of ${one}` && rest.length === 0 ? `${one}, or an array of them` : kinds.join(' or ')
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  boolean: 'boolean',
  object: 'object',
}

function objectKind({ properties, additionalProperties }: Node): string {
  if (properties !== undefined) return `\`{ ${Object.keys(properties).join(', ')} }\``.replace(/^.{70,}$/, 'object')
  return `object of ${additionalProperties ? kindOf(additionalProperties) : 'values'}`
}

function numberKind({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Node): string {
  const least = minimum.toLocaleString('en')
  return maximum === Number.MAX_SAFE_INTEGER
    ? `integer from ${least}`
    : `integer, ${least} to ${maximum.toLocaleString('en')}`
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : flow(value)}\``
}

/** A value in the flow style of YAML. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, each]) => `${key}: ${flow(each)}`)
    return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
  }
  return typeof value === 'string' && /^[\w./-]+$/.test(value) && !/^[\d.]+$/.test(value)
    ? value
    : JSON.stringify(value)
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

const yamlNotes = `## YAML and JSON

- YAML is read as version 1.2: \`yes\`, \`no\`, \`on\`, \`off\` and dates are texts. Write \`true\` and \`false\`.
- A key is always the text that it is in the file: \`{ due_on: { null: true } }\` means the operator \`null\`.
- Anchors and aliases work, at most 100 of them. Merge keys (\`<<\`), duplicate keys and tags are mistakes.
- All mistakes are reported together, each with its file, line and column.
`
