/** The atlas: every country, and every city of more than a thousand people. `npm start` serves it. */
import { defineInterface, reference, Type } from 'resourced'

/** Everyone with a key reads; editors and administrators write. */
const access = {
  read: 'anyone',
  create: ['role:admin', 'role:editor'],
  update: ['role:admin', 'role:editor'],
  delete: ['role:admin', 'role:editor'],
} as const

const latitude = Type.Number({ minimum: -90, maximum: 90, description: 'Degrees north of the equator.' })
const longitude = Type.Number({ minimum: -180, maximum: 180, description: 'Degrees east of Greenwich.' })

export default defineInterface({
  name: 'atlas',
  title: 'Atlas',
  description: 'The countries of the world and their cities.',
  resources: {
    countries: {
      description: 'Countries and territories with a code of their own in ISO 3166-1, and Kosovo.',
      fields: {
        name: Type.String({ minLength: 1, maxLength: 100, search: true, sort: true, unique: true }),
        official_name: Type.String({ minLength: 1, maxLength: 200, search: true }),
        code: Type.String({
          pattern: '^[A-Z]{2}$',
          filter: true,
          sort: true,
          unique: true,
          description: 'ISO 3166-1 alpha-2.',
        }),
        code3: Type.String({ pattern: '^[A-Z]{3}$', filter: true, unique: true, description: 'ISO 3166-1 alpha-3.' }),
        region: Type.Enum(['Africa', 'Americas', 'Antarctic', 'Asia', 'Europe', 'Oceania']),
        subregion: Type.Optional(Type.String({ maxLength: 50, filter: true })),
        capitals: Type.Array(Type.String({ minLength: 1 }), { description: 'Most countries have one, some three.' }),
        area: Type.Optional(
          Type.Number({ exclusiveMinimum: 0, filter: true, sort: true, description: 'Square kilometres.' }),
        ),
        landlocked: Type.Boolean(),
        independent: Type.Optional(Type.Boolean({ description: 'Left open where it is disputed.' })),
        languages: Type.Array(Type.String({ minLength: 1 }), { description: 'The official ones, by English name.' }),
        currencies: Type.Array(
          Type.Object({ code: Type.String({ pattern: '^[A-Z]{3}$' }), name: Type.String(), symbol: Type.String() }),
        ),
        flag: Type.String({ description: 'As an emoji.' }),
        latitude,
        longitude,
      },
      access,
    },
    cities: {
      fields: {
        name: Type.String({ minLength: 1, maxLength: 200, search: true, sort: true }),
        country_id: reference('countries', { onDelete: 'restrict' }),
        population: Type.Integer({
          minimum: 0,
          filter: true,
          sort: true,
          description: 'Inhabitants; 0 where the source does not say.',
        }),
        feature: Type.Enum(
          [
            'PPL', 'PPLA', 'PPLA2', 'PPLA3', 'PPLA4', 'PPLC', 'PPLF', 'PPLG', 'PPLH', 'PPLL', 'PPLQ', 'PPLR', 'PPLS',
            'PPLW', 'PPLX', 'STLMT',
          ], // biome-ignore format: one row reads best
          {
            default: 'PPL',
            description:
              'What kind of place it is, by GeoNames: PPL a populated place; PPLC the capital; PPLA, PPLA2, PPLA3, PPLA4 ' +
              'the seat of a division of the first to fourth order; PPLG the seat of government; PPLX a part of a place; ' +
              'PPLL a locality; PPLS several places; PPLF a farm village; PPLR a religious place; PPLQ, PPLH and PPLW ' +
              'abandoned, historical and destroyed; STLMT a settlement.',
          },
        ),
        capital: Type.Boolean({ default: false, description: 'Whether it is the capital of its country.' }),
        admin_code: Type.Optional(
          Type.String({ maxLength: 20, description: 'The first-order division of its country, by GeoNames.' }),
        ),
        latitude,
        longitude,
      },
      within: 'country_id',
      access,
    },
  },
})
