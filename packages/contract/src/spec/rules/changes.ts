/** Rules about many changes in one request. */
import type { RuleSection } from './rule.ts'

const unobservable = 'Other servers change many records in their own way, or not at all.'

const manyChanges: RuleSection = {
  prefix: 'BLK',
  title: 'Many changes at once',
  rules: [
    {
      id: 'BLK-4',
      mark: 'beyond',
      sentence:
        'Transactions: `POST /transactions` with `{"operations": [{"method", "path", "body", "if_match", "as"}]}`, at ' +
        'most 100, runs all of them in order in one transaction, or none: 200 ' +
        '`{"results": [{"status", "location", "etag", "body"}]}`. Operations are POST, PUT, PATCH and DELETE of ' +
        'declared collections, nested collections and records, and `restore`; anything else is 400 ' +
        '`OPERATION_NOT_ALLOWED`. Each obeys every rule that it would alone, and sees what earlier ones have changed. ' +
        'In a body `{"$ref": "box.id"}` stands for a value of the result of the earlier operation with ' +
        '`"as": "box"`, as the caller sees it, in a path `{box.id}` for its id, and `{"$value": …}` for anything as ' +
        'it is. A refusal has the status of the first operation that failed, and pointers such as ' +
        '`/operations/2/body/title`. More than 1,000 changed records, cascades included, and what would be a job, ' +
        'are 409 `TRANSACTION_TOO_LARGE`. `Idempotency-Key` holds for the whole. A declared collection ' +
        '`transactions` keeps its address.',
      unobservable,
    },
  ],
}

export const changeRules = [manyChanges]
