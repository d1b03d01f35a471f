/** The structure of changes between versions. */
import type { ChangeDeclaration, ConvertedField, RemovedField } from '../declaration.ts'
import { arrayOf, choice, functionOnly, mapOf, type Node, objectOf, ref } from '../structure-node.ts'
import { name } from './resource.ts'

const fieldSchema: Node = ref('field', {
  description: 'The field as older versions have it.',
  wording: 'elsewhere',
})

const removed = objectOf<RemovedField>(
  'A field that only older versions have. Values that clients send are validated and dropped.',
  { schema: fieldSchema, value: { description: 'The value that older versions return.', wording: 'elsewhere' } },
  { before: name('The next field in the order of older versions; default: the field is the last.', 'title') },
  { write: 'Write { schema: { type: "integer" }, value: 3 }.' },
)

const convert = 'Write one such as (value) => value. It needs TypeScript or JavaScript.'

const converted = objectOf<ConvertedField>(
  'A field whose values differ in older versions. Only in TypeScript and JavaScript.',
  {
    schema: fieldSchema,
    older: functionOnly('`(value) => value`: the value that older versions return.', convert),
    newer: functionOnly('`(value) => value`: the value to store for one of an older version.', convert),
  },
  {},
  { write: 'Write { schema, older: (value) => …, newer: (value) => … }.' },
)

const changeExample = 'Write { version: "v2", resource: "tasks", rename: { name: "title" } }.'

export const change = objectOf<ChangeDeclaration>(
  'What a version changed in a collection.',
  {
    version: name('The version that made the change.', 'v2'),
    resource: name("The collection's name in that version.", 'tasks'),
  },
  {
    was: name("The collection's name before the change.", 'todos'),
    collection: choice(
      ['added', 'removed'],
      '`added`: older versions do not have the collection. `removed`: only older versions have it.',
    ),
    rename: mapOf(
      name('The name in this version.', 'title'),
      'The new names of fields by their old names.',
      changeExample,
      { examples: [{ name: 'title' }] },
    ),
    add: arrayOf(
      { type: 'string', wording: 'elsewhere' },
      'Fields that older versions do not have.',
      { what: 'an array of field names', write: 'Write ["labels"].' },
      { examples: [['labels']] },
    ),
    remove: mapOf(removed, 'Fields that only older versions have, by name.', changeExample),
    convert: mapOf(
      converted,
      'Fields whose values differ in older versions, by the name in this version.',
      changeExample,
    ),
  },
  { write: changeExample },
)
