// Creates an account, a bucket, and collections of authors and books with schemas and records.
const base = `${process.env.ADDRESS}/v1`
const authorization = `Basic ${btoa('librarian:shelf-12')}`

async function send(method, path, data) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()).data
}

const collections = '/buckets/library/collections'
await send('PUT', '/accounts/librarian', { password: 'shelf-12' })
await send('PUT', '/buckets/library', {})
await send('PUT', `${collections}/authors`, {
  schema: {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', minLength: 1, maxLength: 80 }, born: { type: 'integer' } },
  },
})
await send('PUT', `${collections}/books`, {
  schema: {
    type: 'object',
    required: ['title', 'author'],
    properties: {
      title: { type: 'string', minLength: 1 },
      pages: { type: 'integer', minimum: 1, maximum: 5000 },
      author: { type: 'string', format: 'uuid' },
    },
  },
})
for (let number = 1; number <= 4; number++) {
  const author = await send('POST', `${collections}/authors/records`, { name: `Author ${number}`, born: 1900 + number })
  for (let volume = 1; volume <= 7; volume++) {
    const book = { title: `Volume ${volume} of author ${number}`, pages: 90 + volume, author: author.id }
    await send('POST', `${collections}/books/records`, book)
  }
}
