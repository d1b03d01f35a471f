/** AUT: who, and what they may do. */
import type { Case } from '../case/case.ts'
import { authentication } from './credentials.ts'
import { ownRecords } from './own-records.ts'
import { permissions } from './permissions.ts'

export const callers: readonly Case[] = [...authentication, ...permissions, ...ownRecords]
