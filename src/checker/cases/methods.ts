/** MET: methods. */
import type { Case } from '../case/case.ts'
import { changes } from './methods/changes.ts'
import { creation } from './methods/creation.ts'
import { preferences } from './methods/preferences.ts'
import { searches } from './methods/queries.ts'
import { absent, unsupported } from './methods/refusals.ts'
import { repeats } from './methods/repeats.ts'
import { replacement } from './methods/replacement.ts'
import { removal, safety } from './methods/safety.ts'

export const methods: readonly Case[] = [
  ...safety,
  ...creation,
  ...replacement,
  ...changes,
  ...removal,
  ...unsupported,
  ...absent,
  ...preferences,
  ...repeats,
  ...searches,
]
