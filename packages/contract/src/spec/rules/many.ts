/** Rules about requests that create or change many records. */
import type { RuleSection } from './rule.ts'

const unobservable = 'Other servers have other requests for many records, or none.'

const many: RuleSection = {
  prefix: 'BLK',
  title: 'Many changes at once',
  rules: [
    {
      id: 'BLK-1',
      mark: 'beyond',
      sentence:
        'POST of a collection with an array creates all of its records or none: 201 with `{"data": [...]}` in the ' +
        'order of the request. An array has at most 1,000 records (`limits.bulk`). One response has the errors of ' +
        'all records, with pointers such as `/3/title`, in the order of CON-6 for the whole; a unique value that two ' +
        'of them share is reported at both. `Idempotency-Key` holds for the whole. Nested collections take arrays too.',
      unobservable,
    },
    {
      id: 'BLK-2',
      mark: 'beyond',
      sentence:
        'PATCH of a collection with an array of objects with `id` merges each, or none. PUT with `key=sku` replaces ' +
        'the record that has the value of this unique field, or creates it; PUT with `sku=ABC` does so for one ' +
        'record: 200, or 201 with Location. `If-None-Match: *` only creates, `If-Match` only replaces. ' +
        'Uniqueness is decided at the end, so records may exchange values. Where conditions are required, an array ' +
        'is 428.',
      unobservable,
    },
  ],
}

export const manyRules = [many]
