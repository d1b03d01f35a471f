/** What the server receives and sends, as JSON Schema: Fastify validates with it, and writes JSON by it. */

const id = { type: 'string', format: 'uuid' }
const features = 'PPL PPLA PPLA2 PPLA3 PPLA4 PPLC PPLF PPLG PPLH PPLL PPLQ PPLR PPLS PPLW PPLX STLMT'.split(' ')

/** The body of POST. */
export const body = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'country_id', 'population', 'latitude', 'longitude'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 200 },
    country_id: id,
    population: { type: 'integer', minimum: 0 },
    feature: { type: 'string', enum: features, default: 'PPL' },
    capital: { type: 'boolean', default: false },
    admin_code: { type: 'string', nullable: true, maxLength: 20, default: null },
    latitude: { type: 'number', minimum: -90, maximum: 90 },
    longitude: { type: 'number', minimum: -180, maximum: 180 },
  },
}

/** What clients set. */
export const fields = Object.keys(body.properties)

/** A city as it is sent. */
export const city = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    ...Object.fromEntries(
      Object.entries(body.properties).map(([name, { type, nullable }]) => [name, { type, nullable }]),
    ),
    created_at: { type: 'string' },
    updated_at: { type: 'string' },
  },
}

export const list = {
  type: 'object',
  properties: {
    data: { type: 'array', items: city },
    pagination: {
      type: 'object',
      properties: {
        total_count: { type: 'integer' },
        page: { type: 'integer' },
        per_page: { type: 'integer' },
        total_pages: { type: 'integer' },
        limit: { type: 'integer' },
        next_cursor: { type: 'string', nullable: true },
      },
    },
  },
}

/** The query of a list: pages by number (`page`, `per_page`), or from one to the next (`limit`, `cursor`). */
export const listQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    country_id: id,
    q: { type: 'string', minLength: 1 },
    sort: { type: 'string', pattern: '^-?(id|name|population|created_at|updated_at)$' },
    page: { type: 'integer', minimum: 1 },
    per_page: { type: 'integer', minimum: 1, maximum: 100 },
    limit: { type: 'integer', minimum: 1, maximum: 100 },
    cursor: { type: 'string' },
    include: { enum: ['country'] },
    'fields[country]': { enum: ['id,name,code'] },
    'country.code': { type: 'string', pattern: '^[A-Z]{2}$' },
  },
}

/** Many cities that were created together. */
export const cities = { type: 'object', properties: { data: { type: 'array', items: city } } }

const country = {
  type: 'object',
  properties: { id: { type: 'string' }, name: { type: 'string' }, code: { type: 'string' } },
}

/** Cities, and the countries that they are in. */
export const listWithCountries = {
  type: 'object',
  properties: {
    ...list.properties,
    included: {
      type: 'object',
      properties: { countries: { type: 'object', additionalProperties: country } },
    },
    related: { type: 'object' },
  },
}

/** Countries, and the first cities of each. */
export const listWithCities = {
  type: 'object',
  properties: {
    data: { type: 'array', items: country },
    pagination: list.properties.pagination,
    included: {
      type: 'object',
      properties: { cities: { type: 'object', additionalProperties: city } },
    },
    related: {
      type: 'object',
      properties: {
        cities: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            properties: {
              ids: { type: 'array', items: { type: 'string' } },
              total_count: { type: 'integer' },
              next: { type: 'string', nullable: true },
            },
          },
        },
      },
    },
  },
}

/** The query of the list of countries. */
export const countriesQuery = {
  type: 'object',
  additionalProperties: false,
  properties: {
    fields: { enum: ['id,name,code'] },
    include: { enum: ['cities'] },
    page: { type: 'integer', minimum: 1 },
    per_page: { type: 'integer', minimum: 1, maximum: 100 },
  },
}

/** The query of the summary: how many cities each kind of place has, and their people. */
export const summaryQuery = {
  type: 'object',
  additionalProperties: false,
  required: ['group', 'sum'],
  properties: {
    group: { enum: ['feature'] },
    sum: { enum: ['population'] },
    per_page: { type: 'integer', minimum: 1, maximum: 100 },
  },
}
