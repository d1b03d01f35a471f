/** Rooms and bookings with Feathers on Koa, its authentication, and its store in memory. */
import { AuthenticationService, authenticate, JWTStrategy } from '@feathersjs/authentication'
import { LocalStrategy, hooks as local } from '@feathersjs/authentication-local'
import { Conflict, Unprocessable } from '@feathersjs/errors'
import { feathers } from '@feathersjs/feathers'
import { bodyParser, errorHandler, koa, parseAuthentication, rest } from '@feathersjs/koa'
import { MemoryService } from '@feathersjs/memory'
import { Ajv, getValidator, hooks as schemas } from '@feathersjs/schema'

const room = {
  $id: 'Room',
  type: 'object',
  additionalProperties: false,
  required: ['name', 'seats'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 60 },
    seats: { type: 'integer', minimum: 1, maximum: 500 },
    equipment: { type: 'array', items: { type: 'string' } },
  },
}
const booking = {
  $id: 'Booking',
  type: 'object',
  additionalProperties: false,
  required: ['purpose', 'day', 'roomId'],
  properties: {
    purpose: { type: 'string', minLength: 1 },
    day: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
    roomId: { type: 'integer' },
  },
}

const app = koa(feathers())
app.use(errorHandler())
app.use(parseAuthentication())
app.use(bodyParser())
app.configure(rest())
app.set('authentication', {
  entity: 'user',
  service: 'users',
  secret: 'only for this machine',
  authStrategies: ['jwt', 'local'],
  jwtOptions: { expiresIn: '1d' },
  local: { usernameField: 'email', passwordField: 'password' },
})

const authentication = new AuthenticationService(app)
authentication.register('jwt', new JWTStrategy())
authentication.register('local', new LocalStrategy())
app.use('authentication', authentication)
app.use('users', new MemoryService({ paginate: { default: 10, max: 50 } }))
app.service('users').hooks({
  before: { find: [authenticate('jwt')], create: [local.hashPassword('password')] },
  after: { all: [local.protect('password')] },
})

/** A service whose changes need a token, and whose bodies must be valid. */
function serve(path, schema, check) {
  app.use(path, new MemoryService({ paginate: { default: 10, max: 50 }, multi: false }))
  const ajv = new Ajv({ allErrors: true })
  const whole = schemas.validateData(getValidator(schema, ajv))
  const part = schemas.validateData(getValidator({ ...schema, $id: `${schema.$id}Patch`, required: [] }, ajv))
  app.service(path).hooks({
    before: {
      create: [authenticate('jwt'), whole, check],
      update: [authenticate('jwt'), whole, check],
      patch: [authenticate('jwt'), part, check],
      remove: [authenticate('jwt')],
    },
  })
}

serve('rooms', room, async ({ data, id, service }) => {
  const { data: same } = await service.find({ query: { name: data.name ?? '' } })
  if (same.some((other) => String(other.id) !== String(id))) throw new Conflict('name is already in use')
})
serve('bookings', booking, async ({ data, app: { services } }) => {
  if (data.roomId === undefined) return
  await services.rooms.get(data.roomId).catch(() => {
    throw new Unprocessable('roomId does not exist')
  })
})

await app.listen(Number(process.env.PORT), '127.0.0.1')
