import { test } from 'node:test'
import { check, start } from './try.ts'

test('the example for Fastify serves the interface beside its own pages', async (context) => {
  await check(await start(context, ['fastify/server.js']))
})
