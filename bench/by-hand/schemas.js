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
  },
}
