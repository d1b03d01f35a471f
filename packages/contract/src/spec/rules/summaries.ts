/** Rules about summaries: groups of the records of a collection, and their figures. */
import type { RuleSection } from './rule.ts'

const summaries: RuleSection = {
  prefix: 'SUM',
  title: 'Summaries',
  rules: [
    {
      id: 'SUM-1',
      mark: 'beyond',
      sentence:
        'GET and QUERY of /{collection}/summary take the filters, the search and the pages of the list; group, up to ' +
        'three enums, booleans, references, and dates and date-times by :year, :month, :week or :day in timezone; sum ' +
        'and avg of integers and decimals, min and max of fields with a filter or a sort; and sort by groups and ' +
        'figures. Each row has group, count and the figures. Sums and averages are exact decimal strings, null is a ' +
        'group, and cursors go with an order by groups alone.',
      unobservable: 'Other servers have summaries elsewhere, or none.',
    },
    {
      id: 'SUM-2',
      mark: 'decision',
      sentence:
        'A summary counts only records that the caller may read. A field in its filters, groups or figures that the ' +
        'caller may not read in every record is refused with 403.',
      unobservable: 'Other servers have summaries elsewhere, or none.',
    },
  ],
}

export const summaryRules = [summaries]
