// Signs up a user, keeps the user's token for the check, and creates venues and concerts.
import { writeFileSync } from 'node:fs'

let token = ''

async function create(collection, record) {
  const response = await fetch(`${process.env.ADDRESS}/api/collections/${collection}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: token },
    body: JSON.stringify(record),
  })
  if (!response.ok) throw new Error(`${collection}: ${response.status} ${await response.text()}`)
  return response.json()
}

const email = 'ann@example.com'
const password = 'concerts-1234'
await create('users/records', { email, password, passwordConfirm: password })
token = (await create('users/auth-with-password', { identity: email, password })).token
writeFileSync(`${process.env.DATA}/key`, token)
for (const name of ['Old Harbour', 'Town Hall', 'The Barn']) {
  const venue = await create('venues/records', { name, capacity: 400 })
  for (let night = 1; night <= 14; night++) {
    const concert = { title: `Night ${night} at ${name}`, price: 20 + night, date: '2027-05-01 20:00:00.000Z' }
    await create('concerts/records', { ...concert, venue: venue.id })
  }
}
