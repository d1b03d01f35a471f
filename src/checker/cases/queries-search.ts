/** QRY-5: search. */
import { define } from '../case/define.ts'
import { everyStatus, status } from '../case/expect.ts'
import { lists } from '../case/expect-list.ts'
import { again, both, found, one, other, plain } from '../case/names.ts'
import { collection, members, references, word, wordInCapitals } from '../case/references.ts'
import { create } from '../case/steps.ts'

const [small, capitals, marked] = references('small', 'capitals', 'marked')

/** A text in the member that search finds. Its words are this case's own. */
const text = (words: string) => ({ [members.search]: words })

export const searchCases = define({
  'QRY-5/word': {
    title: 'q finds the records with a word somewhere in their text, and no others',
    steps: [
      create(one, text(`Brass ${word} lamp`)),
      create(other, text('Brass lamp')),
      found.get(`${collection}?q=${word}`),
    ],
    expect: [lists(found, one)],
    remedy: 'Look in the fields that can be searched for the words of q, wherever they stand.',
  },
  'QRY-5/every-word': {
    title: 'A search for two words finds the records that have both',
    level: 'should',
    after: ['QRY-5/word'],
    steps: [
      create(both, text(`${word} brass lamp`)),
      create(one, text(`${word} lamp`)),
      found.get(`${collection}?q=brass%20${word}`),
    ],
    expect: [lists(found, both)],
    remedy: 'Take q apart into words, and find what has every one of them, in whichever order.',
  },
  'QRY-5/capitals': {
    title: 'A search takes capitals and small letters for the same',
    level: 'should',
    after: ['QRY-5/word'],
    steps: [
      create(small, text(`lamp ${word}`)),
      create(capitals, text(`LAMP ${wordInCapitals}`)),
      found.get(`${collection}?q=${word}`),
      again.get(`${collection}?q=${wordInCapitals}`),
    ],
    expect: [lists(found, small, capitals), lists(again, small, capitals)],
    remedy: 'Fold texts and words to one case before they are compared.',
  },
  'QRY-5/diacritics': {
    title: 'A search takes letters with and without diacritics for the same',
    level: 'should',
    after: ['QRY-5/word'],
    steps: [
      create(marked, text(`lamp ${word}é`)),
      create(plain, text(`lamp ${word}e`)),
      found.get(`${collection}?q=${word}e`),
      again.get(`${collection}?q=${word}%C3%A9`),
    ],
    expect: [lists(found, marked, plain), lists(again, marked, plain)],
    remedy: 'Decompose texts and words (Unicode NFD) and leave out the combining marks before they are compared.',
  },
  'QRY-5/begun': {
    title: 'The last word of a search may be only begun',
    level: 'should',
    after: ['QRY-5/word'],
    steps: [create(one, text(`lamp ${word}lights`)), found.get(`${collection}?q=lamp%20${word}lig`)],
    expect: [lists(found, one)],
    remedy: 'Compare the last word of q with the beginnings of words: people search while they type.',
  },
  'QRY-5/nothing': {
    title: 'A search that finds nothing is answered with an empty list',
    steps: [found.get(`${collection}?q=${word}`)],
    expect: [status(found, 200), lists(found)],
    remedy: 'Answer 200 with an empty list where no record has the words of q.',
  },
  'QRY-5/syntax': {
    title: 'Characters with a meaning in search languages do no harm',
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
    ].map((q) => found.get(`${collection}?q=${q}`)),
    expect: [everyStatus(found, 200, 400)],
    remedy: 'Quote the words of q before they are handed to a search engine, or refuse what it cannot read with 400.',
  },
})
