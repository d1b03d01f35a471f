/** The atlas in three versions: the second renamed a field of the cities, the third keeps another one differently. */
import { readFileSync } from 'node:fs'
import type { InterfaceDeclaration, ResourceDeclaration } from 'resourced-contract/model/declaration'
import { parse } from 'yaml'
import { rate } from './ours.ts'

const atlas = parse(
  readFileSync(new URL('../examples/atlas/resources.yaml', import.meta.url), 'utf8'),
) as InterfaceDeclaration
const { cities, ...others } = atlas.resources
const { population, admin_code, ...fields } = (cities as ResourceDeclaration).fields as Record<string, object>

export default {
  ...atlas,
  limits: { rate: { caller: rate } },
  resources: {
    ...others,
    cities: { ...cities, fields: { ...fields, inhabitants: population, division: admin_code } },
  },
  versions: { v1: {}, v2: {}, v3: {} },
  changes: [
    { version: 'v2', resource: 'cities', rename: { admin_code: 'division' } },
    { version: 'v3', resource: 'cities', rename: { population: 'inhabitants' } },
    {
      version: 'v2',
      resource: 'cities',
      convert: {
        division: {
          schema: admin_code,
          older: (text: string) => text.toLowerCase(),
          newer: (text: string) => text.toUpperCase(),
        },
      },
    },
  ],
} as unknown as InterfaceDeclaration
