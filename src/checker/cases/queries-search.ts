/** QRY-5: search. */
import type { Case } from '../case/case.ts'
import { everyStatus, status } from '../case/expect.ts'
import { lists } from '../case/expect-list.ts'
import { record, when } from '../case/steps.ts'

const needs = ['create', 'list', 'search'] as const

/** A text in the member that search finds. Its words are this case's own. */
const text = (words: string) => ({ '{member:search}': words })

export const searchCases: readonly Case[] = [
  {
    id: 'QRY-5/word',
    title: 'q finds the records with a word somewhere in their text, and no others',
    kind: 'changing',
    needs,
    steps: [
      record('one', text('Brass {word} lamp')),
      record('other', text('Brass lamp')),
      when('found', 'GET', '{collection}?q={word}'),
    ],
    expect: [lists('found', 'one')],
    mend: 'Look in the fields that can be searched for the words of q, wherever they stand.',
  },
  {
    id: 'QRY-5/every-word',
    title: 'A search for two words finds the records that have both',
    kind: 'changing',
    needs,
    level: 'should',
    after: ['QRY-5/word'],
    steps: [
      record('both', text('{word} brass lamp')),
      record('one', text('{word} lamp')),
      when('found', 'GET', '{collection}?q=brass%20{word}'),
    ],
    expect: [lists('found', 'both')],
    mend: 'Take q apart into words, and find what has every one of them, in whichever order.',
  },
  {
    id: 'QRY-5/capitals',
    title: 'A search takes capitals and small letters for the same',
    kind: 'changing',
    needs,
    level: 'should',
    after: ['QRY-5/word'],
    steps: [
      record('small', text('lamp {word}')),
      record('capitals', text('LAMP {word:upper}')),
      when('found', 'GET', '{collection}?q={word}'),
      when('again', 'GET', '{collection}?q={word:upper}'),
    ],
    expect: [lists('found', 'small', 'capitals'), lists('again', 'small', 'capitals')],
    mend: 'Fold texts and words to one case before they are compared.',
  },
  {
    id: 'QRY-5/diacritics',
    title: 'A search takes letters with and without diacritics for the same',
    kind: 'changing',
    needs,
    level: 'should',
    after: ['QRY-5/word'],
    steps: [
      record('marked', text('lamp {word}é')),
      record('plain', text('lamp {word}e')),
      when('found', 'GET', '{collection}?q={word}e'),
      when('again', 'GET', '{collection}?q={word}%C3%A9'),
    ],
    expect: [lists('found', 'marked', 'plain'), lists('again', 'marked', 'plain')],
    mend: 'Decompose texts and words (Unicode NFD) and leave out the combining marks before they are compared.',
  },
  {
    id: 'QRY-5/begun',
    title: 'The last word of a search may be only begun',
    kind: 'changing',
    needs,
    level: 'should',
    after: ['QRY-5/word'],
    steps: [record('one', text('lamp {word}lights')), when('found', 'GET', '{collection}?q=lamp%20{word}lig')],
    expect: [lists('found', 'one')],
    mend: 'Compare the last word of q with the beginnings of words: people search while they type.',
  },
  {
    id: 'QRY-5/nothing',
    title: 'A search that finds nothing is answered with an empty list',
    kind: 'reading',
    needs: ['list', 'search'],
    steps: [when('found', 'GET', '{collection}?q={word}')],
    expect: [status('found', 200), lists('found')],
    mend: 'Answer 200 with an empty list where no record has the words of q.',
  },
  {
    id: 'QRY-5/syntax',
    title: 'Characters with a meaning in search languages do no harm',
    kind: 'reading',
    needs: ['list', 'search'],
    steps: [
      '%22',
      '*',
      '%28',
      'a%20OR',
      'NOT%20b',
      '%27%20or%201=1%20--',
      '%3A*%20%26%20%21',
      '%25',
      'a%5C',
      'x%5E2',
    ].map((q) => when('found', 'GET', `{collection}?q=${q}`)),
    expect: [everyStatus('found', 200, 400)],
    mend: 'Quote the words of q before they are handed to a search engine, or refuse what it cannot read with 400.',
  },
]
