/** Rules about many changes in one request. */
import type { RuleSection } from './rule.ts'

const unobservable = 'Other servers change many records in their own way, or not at all.'

const manyChanges: RuleSection = {
  prefix: 'BLK',
  title: 'Many changes at once',
  rules: [
    {
      id: 'BLK-3',
      mark: 'beyond',
      sentence:
        'Where `updates: { byFilter: true }` is declared, PATCH of a collection with a filter and a merge patch changes ' +
        'every match that the caller may read and change, or none: 200 with `updated_count`, which also counts those ' +
        'that have the values already. More than `updates.above` (1,000) matches are 202 and a job, after every match ' +
        'was checked; until the job ends, other changes of them are 409 `BEING_CHANGED`, and a job that cannot go on ' +
        'restores every record and fails. Undeclared it is 405 `UPDATE_BY_FILTER_NOT_DECLARED`, a JSON Patch 415, an ' +
        'array 400. Filters, `max-affected` and `respond-async` are as for DEL-10.',
      unobservable,
    },
  ],
}

export const changeRules = [manyChanges]
