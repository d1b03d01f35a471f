import { openInterface } from '../interface.js'

export async function GET() {
  const api = await openInterface()
  const { data } = await api.as({ id: 'ann', roles: [] }).tasks.list({ fields: 'title' })
  return Response.json(data.map(({ title }) => title))
}
