/** Singulars of English in collection names, and their plurals (RES-1). */
import { isSingularNoun } from '../spec/singular-nouns.ts'

const irregular: Readonly<Record<string, string>> = {
  person: 'people', child: 'children', man: 'men', woman: 'women', foot: 'feet', tooth: 'teeth', goose: 'geese',
  mouse: 'mice', louse: 'lice', ox: 'oxen', die: 'dice', criterion: 'criteria', phenomenon: 'phenomena', datum: 'data',
  medium: 'media', bacterium: 'bacteria', alumnus: 'alumni', cactus: 'cacti', fungus: 'fungi', nucleus: 'nuclei',
  radius: 'radii', stimulus: 'stimuli', syllabus: 'syllabi', schema: 'schemata', memorandum: 'memoranda',
  curriculum: 'curricula', addendum: 'addenda', erratum: 'errata', stratum: 'strata', automaton: 'automata',
  corpus: 'corpora', genus: 'genera', symposium: 'symposia', stadium: 'stadia', forum: 'fora', referendum: 'referenda',
  leaf: 'leaves', half: 'halves', knife: 'knives', life: 'lives', wife: 'wives', shelf: 'shelves', wolf: 'wolves',
  thief: 'thieves', calf: 'calves', loaf: 'loaves', self: 'selves', elf: 'elves', hero: 'heroes', potato: 'potatoes',
  tomato: 'tomatoes', echo: 'echoes', veto: 'vetoes', quiz: 'quizzes', salesman: 'salesmen',
  salesperson: 'salespeople', analysis: 'analyses', basis: 'bases',
  crisis: 'crises', thesis: 'theses', axis: 'axes', bus: 'buses', lens: 'lenses', gas: 'gases', matrix: 'matrices',
  vertex: 'vertices', appendix: 'appendices', index: 'indexes',
} // biome-ignore format: a word list reads best in rows

/** The last word of a name with hyphens, which can be plural (`line-items`: `items`). */
function lastWord(name: string): string {
  return name.split('-').findLast((part) => /[a-z]/.test(part)) ?? name
}

/** Whether a collection is named by a singular: by an English noun that has another plural. */
export function isSingular(name: string): boolean {
  return isSingularNoun(lastWord(name).replace(/\d+$/, ''))
}

/** The plural to suggest for a singular name. */
export function pluralOf(name: string): string {
  const word = lastWord(name)
  const at = name.lastIndexOf(word)
  return name.slice(0, at) + pluralWord(word) + name.slice(at + word.length)
}

function pluralWord(word: string): string {
  if (Object.hasOwn(irregular, word)) return irregular[word] as string
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  if (word.endsWith('sis')) return `${word.slice(0, -2)}es`
  return /(?:s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`
}
