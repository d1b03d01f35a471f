/** The structure of conditions. The checks of conditions know the fields, and check more than this. */
import type { FieldCondition } from '../declaration.ts'
import { arrayOf, flagWithoutDefault, type Node, objectOf, ref } from './node.ts'

const scalars = ['string', 'number', 'boolean']

const bindings: Readonly<Record<string, Node>> = {
  caller: {
    description: 'An attribute of the caller: `id`, `roles` or `claims.NAME`.',
    ...{ type: 'string', pattern: '^(?:id|roles|claims(?:\\.[^.\\s]+)+)$', examples: ['id', 'roles', 'claims.team'] },
  },
  record: { description: 'A field of the changed record. Only in business rules.', type: 'string', examples: ['id'] },
}

/** A value that a field is compared with. */
export const conditionValue: Node = {
  description: 'A constant, an attribute of the caller, or in a business rule a field of the changed record.',
  ...{ type: [...scalars, 'object'], properties: bindings, additionalProperties: false },
  ...{ minProperties: 1, maxProperties: 1 },
}

const value = (description: string): Node => ref('conditionValue', { description })

const comparisons = objectOf<FieldCondition>(
  'Comparisons of one field. All of them must be true.',
  {},
  {
    gt: value('Greater than this.'),
    gte: value('Greater than this, or equal.'),
    lt: value('Less than this.'),
    lte: value('Less than this, or equal.'),
    in: arrayOf(ref('conditionValue'), 'One of these values.', undefined, { minItems: 1 }),
    not: value('Another value than this, or no value.'),
    contains: value('A text that contains this text.'),
    startsWith: value('A text that begins with this text.'),
    null: flagWithoutDefault('`true`: the field has no value. `false`: the field has a value.'),
  },
  {},
)

/** The operators of conditions, by name. */
export const operators = Object.keys(comparisons.properties)

/** A condition on a record. */
export const condition: Node = {
  description:
    'A condition on a record: values or comparisons by field, of which all must match, or `and`, `or` and `not`. A ' +
    'comparison with a missing value is unknown, as in SQL. A record matches if the whole condition is true.',
  type: 'object',
  properties: {
    and: arrayOf(ref('condition'), 'All of these conditions.', undefined, { minItems: 1 }),
    or: arrayOf(ref('condition'), 'At least one of these conditions.', undefined, { minItems: 1 }),
    not: ref('condition', { description: 'Not this condition.' }),
  },
  additionalProperties: {
    ...comparisons,
    description: 'The value of the field, an attribute of the caller, or comparisons.',
    type: [...scalars, 'object'],
    properties: { ...comparisons.properties, ...bindings },
    minProperties: 1,
  },
  examples: [{ status: 'open' }, { due_on: { lt: '2027-01-01' } }],
  wording: 'elsewhere',
}
