/** JOB-6: collections written to files. */

import { parse } from 'csv-parse/sync'
import type { Case, Expectation, Observations, Step } from '../../case/case.ts'
import { common, defineOne } from '../../case/define.ts'
import {
  answerOf,
  everyStatus,
  fieldIs,
  finding,
  isAddress,
  isText,
  itemsOf,
  memberIs,
  short,
  status,
  unless,
} from '../../case/expect.ts'
import { idsOf } from '../../case/expect-list.ts'
import { deletion, gone, job, list, one, three, whole } from '../../case/names.ts'
import { applicableIf, readyIf } from '../../case/preconditions.ts'
import { base, caseRecords, collectionName, mark, members, Reference } from '../../case/references.ts'
import { asOther, body, create, createMany, settled, setUp } from '../../case/steps.ts'
import type { Answer } from '../../client/exchange.ts'
import { isSame } from '../../values/json.ts'

const [exporting, file, bystander, own, wrong] = Reference.named('export', 'file', 'bystander', 'own', 'wrong')
const [otherList, otherFile, begin, rest] = Reference.named('other list', 'other file', 'begin', 'rest')

const content = job.json('/result/content_url')

/** Exports the case's records; `job` is the finished job. */
function exported(format: string, more: Readonly<Record<string, unknown>> = {}): readonly Step[] {
  const filter = { [members.marker]: mark }
  return [
    applicableIf(({ profile }) => profile.exports?.includes(format) === true, `the profile does not name ${format}`),
    exporting.post(`${base}/exports`, body.json({ collection: collectionName, filter, format, ...more })),
    settled(exporting),
  ]
}

const showing = [
  setUp(list.get(caseRecords)),
  readyIf((seen) => itemsOf(seen.of(list).answer, seen)?.length === 3, 'the list did not show what had been made'),
] as const

type Row = Readonly<Record<string, unknown>>

function readAs(format: string, text: string): readonly Row[] | undefined {
  try {
    if (format === 'csv') return parse(text, { columns: true, bom: true }) as Row[]
    if (format === 'json') return JSON.parse(text) as Row[]
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Row)
  } catch {
    return undefined
  }
}

/** The file contains the records of the list in any order. CSV contains only texts. */
function sameRecords(format: string): Expectation {
  return answerOf(file, (answer, seen) => {
    const rows = readAs(format, answer.body)
    if (!Array.isArray(rows)) return `the body cannot be read as ${format}: ${short(answer.body)}`
    const wanted = itemsOf(seen.of(list).answer, seen) ?? []
    if (rows.length !== wanted.length) return `${rows.length} records in place of ${wanted.length}`
    for (const record of wanted) {
      const row = rows.find((each) => String(each?.[seen.collection.id]) === String(record[seen.collection.id]))
      if (row === undefined) return `${String(record[seen.collection.id])} is not there`
      const odd = Object.keys(record).find((name) => !isSameCell(format, row[name], record[name]))
      if (odd !== undefined) return `${odd} is ${short(row[odd])} in place of ${short(record[odd])}`
    }
    return undefined
  })
}

function isSameCell(format: string, cell: unknown, value: unknown): boolean {
  if (format !== 'csv') return isSame(cell, value)
  if (typeof value === 'object' && value !== null) return typeof cell === 'string' && cell !== ''
  return cell === (value === null ? '' : String(value))
}

function sameAs(format: string, says: string): Case {
  return defineOne(`JOB-6/${format}`, {
    title: `An export as ${says} holds the records of the list`,
    needsOnly: ['create', 'read', 'list', 'finder', 'exports'],
    after: ['JOB-6/accepted', 'JOB-6/address'],
    steps: [createMany(three, 3), ...showing, ...exported(format), file.get(content, { headers: { Accept: '*/*' } })],
    expect: [status(file, 200), sameRecords(format)],
    remedy: 'Write to the file what the list with the same filter shows, member by member.',
  })
}

/** A text with all that CSV writes in another way. */
const quoted = `${mark}, "so"\r\nhe said; it's`

const text = (seen: Observations, step: Reference): Answer | undefined => seen.of(step).answer

/** A file in JSON has the records of a list in its order. */
function inOrderOf(file: Reference, list: Reference): Expectation {
  return answerOf(file, ({ body }, seen) => {
    const held = readAs('json', body)?.map((row) => String(row[seen.collection.id]))
    const wanted = idsOf(text(seen, list), seen)
    return unless(isSame(held, wanted), `${short(held)} in place of ${short(wanted)}`)
  })
}

export const exportCases: readonly Case[] = [
  ...common({ needs: ['list', 'read'] }).define({
    'JOB-6/accepted': {
      title: 'An export returns 202 with status, job_id and status_url',
      steps: [create(one), ...exported('json')],
      expect: [
        status(exporting, 202),
        memberIs(exporting, '/job_id', isText),
        memberIs(exporting, '/status_url', isText),
      ],
      remedy: 'Answer POST of an export with 202 and the reference to its job, as for a deferred deletion.',
    },
    'JOB-6/address': {
      title: 'The result of an export has the address of its content',
      after: ['JOB-6/accepted'],
      steps: [create(one), ...exported('json')],
      expect: [memberIs(job, '/result/content_url', isAddress)],
      remedy: 'Tell the address of the file in the result of the job: content_url.',
    },
  }),
  sameAs('json', 'JSON'),
  sameAs('ndjson', 'NDJSON, one record a line,'),
  sameAs('csv', 'CSV'),
  ...common({ needs: ['read'], after: ['JOB-6/json'] }).define({
    'JOB-6/csv-quotes': {
      title: 'An export as CSV keeps commas, quotes and line breaks within a value',
      needs: ['list'],
      after: ['JOB-6/csv'],
      steps: [
        create(one, { [members.marker]: quoted }),
        ...exported('csv', { filter: { [members.marker]: quoted } }),
        file.get(content, { headers: { Accept: '*/*' } }),
      ],
      expect: [
        answerOf(file, (answer, seen) => {
          const rows = readAs('csv', answer.body)
          const value = rows?.[0]?.[seen.collection.marker ?? '']
          const wanted = seen.fill(quoted)
          if (rows?.length === 1 && value === wanted) return undefined
          return `${rows?.length ?? 'no'} records, and ${short(value)} in place of ${short(wanted)}`
        }),
      ],
      remedy: 'Put values with commas, quotes or line breaks between quotes, and double the quotes within (RFC 4180).',
    },
    'JOB-6/filtered': {
      title: 'An export excludes records that do not match and deleted records',
      needs: ['list'],
      steps: [
        createMany(three, 3),
        create(bystander, { [members.marker]: 'left alone' }),
        setUp(gone.delete(three.at(1))),
        settled(gone, deletion),
        ...exported('json'),
        file.get(content),
      ],
      expect: [
        answerOf(file, (answer, seen) => {
          const ids = readAs('json', answer.body)?.map((row) => String(row[seen.collection.id]))
          const wanted = [seen.fill(three.at(0).id), seen.fill(three.at(2).id)]
          if (isSame(ids?.toSorted(), wanted.toSorted())) return undefined
          return `it holds ${short(ids)} in place of ${short(wanted)}`
        }),
      ],
      remedy: 'Read for an export with the conditions that the list is read with.',
    },
    'JOB-6/sorted': {
      title: 'An export has the requested order',
      needs: ['sort'],
      steps: [
        applicableIf(
          ({ collection: { sorts, unique } }) => sorts.some((each) => unique.includes(each)),
          'it cannot be sorted by a member whose values differ',
        ),
        createMany(three, 3),
        setUp(list.get(`${caseRecords}&sort=-${members.distinct}`)),
        ...exported('json', { sort: `-${members.distinct}` }),
        file.get(content),
        setUp(otherList.get(`${caseRecords}&sort=${members.distinct}`)),
        ...exported('json', { sort: members.distinct }),
        otherFile.get(content),
      ],
      expect: [inOrderOf(file, list), inOrderOf(otherFile, otherList)],
      remedy: 'Sort what is exported as the list is sorted, ties by identifier.',
    },
    'JOB-6/resumed': {
      title: 'A download of an export can be resumed with a range',
      needs: ['list'],
      steps: [
        createMany(three, 3),
        ...exported('json'),
        setUp(whole.get(content)),
        begin.get(content, { headers: { Range: 'bytes=0-99' } }),
        rest.get(content, { headers: { Range: 'bytes=100-' } }),
      ],
      expect: [
        status(begin, 206),
        status(rest, 206),
        (seen) => {
          const both = (text(seen, begin)?.body ?? '') + (text(seen, rest)?.body ?? '')
          if (both === text(seen, whole)?.body) return undefined
          return finding(seen.of(rest), 'body', 'the two ranges one after the other are not what the whole is')
        },
        fieldIs(rest, 'Content-Range', (seen) => {
          const length = Buffer.byteLength(text(seen, whole)?.body ?? '')
          return `bytes 100-${length - 1}/${length}`
        }),
      ],
      remedy: 'Answer ranges of the file with 206 and Content-Range (RFC 9110, section 14).',
    },
    'JOB-6/others': {
      title: 'The content of an export is not returned to other callers',
      needs: ['list'],
      after: ['JOB-6/address'],
      steps: [create(one), ...exported('json'), setUp(own.get(content)), file.get(content, asOther)],
      expect: [status(file, 403, 404)],
      remedy: 'Check the caller for the content of an export as for its job.',
    },
    'JOB-6/wrong': {
      title: 'An export of an unknown collection or format is refused',
      needs: ['create', 'list', 'finder'],
      after: ['JOB-6/accepted'],
      steps: [
        { collection: 'never-was', format: 'json' },
        { collection: collectionName, format: 'never-was' },
        { collection: collectionName, format: ['json'] },
        { collection: { __proto__x: 1 }, format: 'json' },
        { collection: `../${collectionName}`, format: 'json' },
        { collection: '__proto__', format: 'json' },
        { collection: collectionName, format: 'json', filter: [] },
      ].map((json) => wrong.post(`${base}/exports`, body.json(json))),
      expect: [everyStatus(wrong, 400, 404)],
      remedy: 'Check collection, format and filter before the job is made, and answer 400 with all that is wrong.',
    },
  }),
]
