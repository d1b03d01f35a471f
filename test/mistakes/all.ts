/** All mistakes, and how to make them. */
import { accessMistakes } from './access.ts'
import { changesMistakes } from './changes.ts'
import { collectionsMistakes } from './collections.ts'
import { conditionsMistakes } from './conditions.ts'
import { deletionMistakes } from './deletion.ts'
import { fieldsMistakes } from './fields.ts'
import { interfaceMistakes } from './interface.ts'
import { rulesMistakes } from './rules.ts'
import { summariesMistakes } from './summaries.ts'
import { totalsMistakes } from './totals.ts'
import { versionsMistakes } from './versions.ts'

export const allMistakes = [
  ...interfaceMistakes,
  ...changesMistakes,
  ...versionsMistakes,
  ...collectionsMistakes,
  ...fieldsMistakes,
  ...accessMistakes,
  ...conditionsMistakes,
  ...rulesMistakes,
  ...deletionMistakes,
  ...summariesMistakes,
  ...totalsMistakes,
]

/** Puts a value at a place of the declaration of the documentation; `undefined` takes the key away. */
export function spoil(declaration: unknown, place: string, value: unknown): void {
  const steps = place.split('/')
  const last = steps.pop() as string
  // biome-ignore lint/suspicious/noExplicitAny: the test goes wherever the place says
  const holder = steps.reduce((each, step) => (each[step] ??= {}), declaration as any)
  if (value === undefined) delete holder[last]
  else holder[last] = value
}
