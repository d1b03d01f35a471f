// Creates a user, keeps the user's token for the check, and creates rooms and bookings.
import { writeFileSync } from 'node:fs'

let authorization = ''

async function create(service, record) {
  const response = await fetch(`${process.env.ADDRESS}/${service}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify(record),
  })
  if (!response.ok) throw new Error(`${service}: ${response.status} ${await response.text()}`)
  return response.json()
}

const credentials = { email: 'ann@example.com', password: 'rooms-1234' }
await create('users', credentials)
const { accessToken } = await create('authentication', { strategy: 'local', ...credentials })
writeFileSync(`${process.env.DATA}/key`, accessToken)
authorization = `Bearer ${accessToken}`
for (const name of ['Attic', 'Basement', 'Chapel']) {
  const { id } = await create('rooms', { name, seats: 12, equipment: ['screen'] })
  for (let day = 10; day <= 17; day++) {
    await create('bookings', { purpose: `Meeting in ${name}`, day: `2027-03-${day}`, roomId: id })
  }
}
