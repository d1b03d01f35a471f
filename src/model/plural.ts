/** English plurals of collection names (RES-1). */

const irregular: Readonly<Record<string, string>> = {
  person: 'people', child: 'children', man: 'men', woman: 'women', foot: 'feet', tooth: 'teeth', goose: 'geese',
  mouse: 'mice', louse: 'lice', ox: 'oxen', die: 'dice', criterion: 'criteria', phenomenon: 'phenomena', datum: 'data',
  medium: 'media', bacterium: 'bacteria', alumnus: 'alumni', cactus: 'cacti', fungus: 'fungi', nucleus: 'nuclei',
  radius: 'radii', stimulus: 'stimuli', syllabus: 'syllabi', schema: 'schemata', memorandum: 'memoranda',
  curriculum: 'curricula', addendum: 'addenda', erratum: 'errata', stratum: 'strata', automaton: 'automata',
  corpus: 'corpora', genus: 'genera', symposium: 'symposia', stadium: 'stadia', forum: 'fora', referendum: 'referenda',
  leaf: 'leaves', half: 'halves', knife: 'knives', life: 'lives', wife: 'wives', shelf: 'shelves', wolf: 'wolves',
  thief: 'thieves', calf: 'calves', loaf: 'loaves', self: 'selves', elf: 'elves', hero: 'heroes', potato: 'potatoes',
  tomato: 'tomatoes', echo: 'echoes', veto: 'vetoes', quiz: 'quizzes', analysis: 'analyses', basis: 'bases',
  crisis: 'crises', thesis: 'theses', axis: 'axes', bus: 'buses', lens: 'lenses', gas: 'gases', matrix: 'matrices',
  vertex: 'vertices', appendix: 'appendices', index: 'indexes',
} // biome-ignore format: a word list reads best in rows

// Plurals without s, and nouns with one form. Longer words with these endings count too: salespeople, grandchildren,
// metadata, software.
const plurals = new Set(Object.values(irregular))
const uncountable = new Set(
  `news series species equipment information feedback staff sheep fish deer aircraft spacecraft furniture
  luggage baggage money cash music traffic weather research advice knowledge evidence personnel police
  cattle offspring salmon trout merchandise stock mail rice homework hardware software firmware middleware
  ware means corps kudos headquarters crossroads barracks gallows rabies diabetes physics mathematics
  economics politics statistics analytics logistics mechanics electronics graphics ethics genetics athletics
  gymnastics acoustics robotics optics pants trousers scissors goods clothes thanks premises savings
  belongings surroundings metadata multimedia livestock seafood footage`.split(/\s+/),
)
const endings = 'people children women men feet teeth mice data media ware craft fish'.split(' ')

// Singular words in s, in addition to those with a typical ending (address, status, analysis).
const singularInS = new Set(
  `canvas atlas gas bias alias pancreas christmas chaos cosmos ethos pathos thermos rhinoceros asbestos axis
  iris pelvis tennis cannabis metropolis necropolis trellis mantis ibis marquis dais arthritis lens bus plus
  minus yes this has is was its always sms gps dns css https tls ios cms pos`.split(/\s+/),
)
const pluralInUs = new Set('menus submenus gurus emus tutus haikus bayous caribous skus cpus gpus ius'.split(' '))

/** The last word of a name with hyphens, which can be plural (`line-items`: `items`). */
function lastWord(name: string): string {
  return name.split('-').findLast((part) => /[a-z]/.test(part)) ?? name
}

/** Whether a collection name is a plural noun, or a noun with one form. A heuristic, not a dictionary. */
export function isPlural(name: string): boolean {
  const word = lastWord(name).replace(/\d+$/, '')
  if (plurals.has(word) || uncountable.has(word)) return true
  if (endings.some((ending) => word.length > ending.length + 1 && word.endsWith(ending))) return true
  if (!word.endsWith('s') || word.length < 3) return false
  if (singularInS.has(word) || word.endsWith('ss') || word.endsWith('sis') || word.endsWith('itis')) return false
  return !word.endsWith('us') || pluralInUs.has(word) || word.endsWith('eaus')
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
