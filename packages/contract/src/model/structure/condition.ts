/** The structure of conditions. The checks of conditions know the fields, and check more than this. */
import type { FieldCondition } from '../declaration.ts'
import { callerForm } from '../names.ts'
import { type Operator, operators } from '../operators.ts'
import { arrayOf, flagWithoutDefault, type Node, type Optional, objectOf, ref } from '../structure-node.ts'

const scalars = ['string', 'number', 'boolean']

const bindings: Readonly<Record<string, Node>> = {
  caller: {
    description: 'An attribute of the caller: `id`, `roles` or `claims.NAME`.',
    ...{ type: 'string', pattern: callerForm.source, examples: ['id', 'roles', 'claims.team'] },
  },
  record: {
    description: 'In business rules a field of the changed record, in lookups of the record that the rule is about.',
    type: 'string',
    examples: ['id'],
  },
}

/** A value that a field is compared with. */
export const conditionValue: Node = {
  description: 'A constant, an attribute of the caller, or in business rules and lookups a field of the other record.',
  ...{ type: [...scalars, 'object'], properties: bindings, additionalProperties: false },
  ...{ minProperties: 1, maxProperties: 1 },
}

const comparisons = objectOf<FieldCondition>(
  'Comparisons of one field. All of them must be true.',
  {},
  Object.fromEntries([...operators].map(([name, row]) => [name, comparison(row)])) as Optional<FieldCondition>,
  {},
)

function comparison({ operand, condition: description }: Operator): Node {
  if (operand === 'flag') return flagWithoutDefault(description)
  if (operand === 'list') return arrayOf(ref('conditionValue'), description, undefined, { minItems: 1 })
  return ref('conditionValue', { description })
}

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
