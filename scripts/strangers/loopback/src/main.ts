/** Customers and orders with LoopBack 4 and its connector for data in memory. */
import type { ApplicationConfig } from '@loopback/core'
import {
  belongsTo,
  type Count,
  CountSchema,
  DefaultCrudRepository,
  Entity,
  type Filter,
  type FilterExcludingWhere,
  juggler,
  model,
  property,
  RepositoryMixin,
  repository,
  type Where,
} from '@loopback/repository'
import {
  del,
  get,
  getModelSchemaRef,
  HttpErrors,
  param,
  patch,
  post,
  put,
  RestApplication,
  requestBody,
  response,
} from '@loopback/rest'

@model()
class Customer extends Entity {
  @property({ type: 'number', id: true, generated: true })
  id?: number

  @property({ type: 'string', required: true, jsonSchema: { minLength: 1, maxLength: 80 } })
  name: string

  @property({ type: 'string', required: true, jsonSchema: { format: 'email' } })
  email: string
}

@model()
class Order extends Entity {
  @property({ type: 'number', id: true, generated: true })
  id?: number

  @property({ type: 'string', required: true, jsonSchema: { minLength: 1 } })
  item: string

  @property({ type: 'number', required: true, jsonSchema: { type: 'integer', minimum: 1, maximum: 100 } })
  quantity: number

  @property({ type: 'boolean', default: false })
  shipped?: boolean

  @belongsTo(() => Customer)
  customerId: number
}

const memory = new juggler.DataSource({ name: 'db', connector: 'memory' })

class CustomerRepository extends DefaultCrudRepository<Customer, number> {
  constructor() {
    super(Customer, memory)
  }
}

class OrderRepository extends DefaultCrudRepository<Order, number> {
  constructor() {
    super(Order, memory)
  }
}

class CustomerController {
  constructor(@repository(CustomerRepository) private customers: CustomerRepository) {}

  @post('/customers')
  @response(200, { content: { 'application/json': { schema: getModelSchemaRef(Customer) } } })
  async create(
    @requestBody({
      content: {
        'application/json': { schema: getModelSchemaRef(Customer, { title: 'NewCustomer', exclude: ['id'] }) },
      },
    })
    customer: Omit<Customer, 'id'>,
  ): Promise<Customer> {
    const { count } = await this.customers.count({ email: customer.email })
    if (count > 0) throw new HttpErrors.Conflict('email is already in use')
    return this.customers.create(customer)
  }

  @get('/customers/count')
  @response(200, { content: { 'application/json': { schema: CountSchema } } })
  count(@param.where(Customer) where?: Where<Customer>): Promise<Count> {
    return this.customers.count(where)
  }

  @get('/customers')
  @response(200, { content: { 'application/json': { schema: { type: 'array', items: getModelSchemaRef(Customer) } } } })
  find(@param.filter(Customer) filter?: Filter<Customer>): Promise<Customer[]> {
    return this.customers.find(filter)
  }

  @get('/customers/{id}')
  @response(200, { content: { 'application/json': { schema: getModelSchemaRef(Customer) } } })
  findById(
    @param.path.number('id') id: number,
    @param.filter(Customer, { exclude: 'where' }) filter?: FilterExcludingWhere<Customer>,
  ): Promise<Customer> {
    return this.customers.findById(id, filter)
  }

  @patch('/customers/{id}')
  @response(204, { description: 'Customer PATCH success' })
  async updateById(
    @param.path.number('id') id: number,
    @requestBody({ content: { 'application/json': { schema: getModelSchemaRef(Customer, { partial: true }) } } })
    customer: Customer,
  ): Promise<void> {
    await this.customers.updateById(id, customer)
  }

  @put('/customers/{id}')
  @response(204, { description: 'Customer PUT success' })
  async replaceById(@param.path.number('id') id: number, @requestBody() customer: Customer): Promise<void> {
    await this.customers.replaceById(id, customer)
  }

  @del('/customers/{id}')
  @response(204, { description: 'Customer DELETE success' })
  async deleteById(@param.path.number('id') id: number): Promise<void> {
    await this.customers.deleteById(id)
  }
}

class OrderController {
  constructor(
    @repository(OrderRepository) private orders: OrderRepository,
    @repository(CustomerRepository) private customers: CustomerRepository,
  ) {}

  @post('/orders')
  @response(200, { content: { 'application/json': { schema: getModelSchemaRef(Order) } } })
  async create(
    @requestBody({
      content: { 'application/json': { schema: getModelSchemaRef(Order, { title: 'NewOrder', exclude: ['id'] }) } },
    })
    order: Omit<Order, 'id'>,
  ): Promise<Order> {
    if (!(await this.customers.exists(order.customerId))) throw new HttpErrors.UnprocessableEntity('no such customer')
    return this.orders.create(order)
  }

  @get('/orders')
  @response(200, { content: { 'application/json': { schema: { type: 'array', items: getModelSchemaRef(Order) } } } })
  find(@param.filter(Order) filter?: Filter<Order>): Promise<Order[]> {
    return this.orders.find(filter)
  }

  @patch('/orders')
  @response(200, { content: { 'application/json': { schema: CountSchema } } })
  updateAll(
    @requestBody({ content: { 'application/json': { schema: getModelSchemaRef(Order, { partial: true }) } } })
    order: Order,
    @param.where(Order) where?: Where<Order>,
  ): Promise<Count> {
    return this.orders.updateAll(order, where)
  }

  @get('/orders/{id}')
  @response(200, { content: { 'application/json': { schema: getModelSchemaRef(Order) } } })
  findById(@param.path.number('id') id: number): Promise<Order> {
    return this.orders.findById(id)
  }

  @patch('/orders/{id}')
  @response(204, { description: 'Order PATCH success' })
  async updateById(
    @param.path.number('id') id: number,
    @requestBody({ content: { 'application/json': { schema: getModelSchemaRef(Order, { partial: true }) } } })
    order: Order,
  ): Promise<void> {
    await this.orders.updateById(id, order)
  }

  @put('/orders/{id}')
  @response(204, { description: 'Order PUT success' })
  async replaceById(@param.path.number('id') id: number, @requestBody() order: Order): Promise<void> {
    await this.orders.replaceById(id, order)
  }

  @del('/orders/{id}')
  @response(204, { description: 'Order DELETE success' })
  async deleteById(@param.path.number('id') id: number): Promise<void> {
    await this.orders.deleteById(id)
  }
}

class Shop extends RepositoryMixin(RestApplication) {
  constructor(options: ApplicationConfig) {
    super(options)
    this.repository(CustomerRepository)
    this.repository(OrderRepository)
    this.controller(CustomerController)
    this.controller(OrderController)
  }
}

async function main() {
  const shop = new Shop({ rest: { host: '127.0.0.1', port: Number(process.env['PORT']) } })
  await shop.start()
  const customers = await shop.getRepository(CustomerRepository)
  const orders = await shop.getRepository(OrderRepository)
  for (const name of ['Ann', 'Ben', 'Cid']) {
    const { id } = await customers.create({ name, email: `${name.toLowerCase()}@example.com` })
    for (let quantity = 1; quantity <= 8; quantity++) {
      await orders.create({ item: `Item ${quantity}`, quantity, shipped: quantity > 4, customerId: id })
    }
  }
}

void main()
