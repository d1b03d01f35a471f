/** Owners and cats with NestJS, class-validator, Swagger and TypeORM on SQLite in memory. */
import 'reflect-metadata'
import {
  Body,
  ConflictException,
  Controller,
  Delete,
  Get,
  HttpCode,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Patch,
  Post,
  Query,
  UnprocessableEntityException,
  ValidationPipe,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ApiProperty, ApiPropertyOptional, ApiTags, DocumentBuilder, PartialType, SwaggerModule } from '@nestjs/swagger'
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm'
import { Type } from 'class-transformer'
import { IsEmail, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator'
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn, type Repository } from 'typeorm'

@Entity()
class Owner {
  @PrimaryGeneratedColumn()
  @ApiProperty()
  id: number

  @Column()
  @ApiProperty()
  name: string

  @Column({ unique: true })
  @ApiProperty()
  email: string
}

@Entity()
class Cat {
  @PrimaryGeneratedColumn()
  @ApiProperty()
  id: number

  @Column()
  @ApiProperty()
  name: string

  @Column()
  @ApiProperty()
  age: number

  @Column({ type: 'varchar', nullable: true })
  @ApiPropertyOptional()
  breed?: string

  @Column()
  @ApiProperty()
  ownerId: number

  @ManyToOne(() => Owner, { onDelete: 'RESTRICT' })
  owner?: Owner
}

class CreateOwnerDto {
  @IsString()
  @Length(1, 80)
  @ApiProperty()
  name: string

  @IsEmail()
  @ApiProperty()
  email: string
}

class UpdateOwnerDto extends PartialType(CreateOwnerDto) {}

class CreateCatDto {
  @IsString()
  @Length(1, 40)
  @ApiProperty({ minLength: 1, maxLength: 40 })
  name: string

  @IsInt()
  @Min(0)
  @Max(40)
  @ApiProperty({ minimum: 0, maximum: 40 })
  age: number

  @IsOptional()
  @IsString()
  @ApiPropertyOptional()
  breed?: string

  @IsInt()
  @ApiProperty({ description: 'The owner of the cat' })
  ownerId: number
}

class UpdateCatDto extends PartialType(CreateCatDto) {}

class PageDto {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @ApiPropertyOptional()
  page?: number

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(50)
  @ApiPropertyOptional()
  limit?: number
}

/** What both collections do with TypeORM. */
class Store<Row extends { id: number }> {
  constructor(
    private readonly rows: Repository<Row>,
    private readonly name: string,
  ) {}

  list({ page = 1, limit = 10 }: PageDto) {
    return this.rows.find({ order: { id: 'ASC' } as never, skip: (page - 1) * limit, take: limit })
  }

  async read(id: number): Promise<Row> {
    const row = await this.rows.findOneBy({ id } as never)
    if (row === null) throw new NotFoundException(`${this.name} #${id} not found`)
    return row
  }

  async save(row: object): Promise<Row> {
    try {
      return (await this.rows.save(row as never)) as unknown as Row
    } catch (error) {
      const { message } = error as Error
      if (message.includes('UNIQUE')) throw new ConflictException(message)
      if (message.includes('FOREIGN KEY')) throw new UnprocessableEntityException(message)
      throw error
    }
  }

  async remove(id: number): Promise<void> {
    await this.read(id)
    try {
      await this.rows.delete(id)
    } catch {
      throw new ConflictException(`${this.name} #${id} is still in use`)
    }
  }
}

@Injectable()
class OwnersService extends Store<Owner> {
  constructor(@InjectRepository(Owner) rows: Repository<Owner>) {
    super(rows, 'Owner')
  }
}

@Injectable()
class CatsService extends Store<Cat> {
  constructor(@InjectRepository(Cat) rows: Repository<Cat>) {
    super(rows, 'Cat')
  }
}

@ApiTags('owners')
@Controller('owners')
class OwnersController {
  constructor(private readonly owners: OwnersService) {}

  @Get()
  list(@Query() page: PageDto): Promise<Owner[]> {
    return this.owners.list(page)
  }

  @Post()
  create(@Body() body: CreateOwnerDto): Promise<Owner> {
    return this.owners.save(body)
  }

  @Get(':id')
  read(@Param('id', ParseIntPipe) id: number): Promise<Owner> {
    return this.owners.read(id)
  }

  @Patch(':id')
  async update(@Param('id', ParseIntPipe) id: number, @Body() body: UpdateOwnerDto): Promise<Owner> {
    return this.owners.save({ ...(await this.owners.read(id)), ...body })
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@Param('id', ParseIntPipe) id: number): Promise<void> {
    return this.owners.remove(id)
  }
}

@ApiTags('cats')
@Controller('cats')
class CatsController {
  constructor(private readonly cats: CatsService) {}

  @Get()
  list(@Query() page: PageDto): Promise<Cat[]> {
    return this.cats.list(page)
  }

  @Post()
  create(@Body() body: CreateCatDto): Promise<Cat> {
    return this.cats.save(body)
  }

  @Get(':id')
  read(@Param('id', ParseIntPipe) id: number): Promise<Cat> {
    return this.cats.read(id)
  }

  @Patch(':id')
  async update(@Param('id', ParseIntPipe) id: number, @Body() body: UpdateCatDto): Promise<Cat> {
    return this.cats.save({ ...(await this.cats.read(id)), ...body })
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@Param('id', ParseIntPipe) id: number): Promise<void> {
    return this.cats.remove(id)
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'sqljs', entities: [Owner, Cat], synchronize: true, autoSave: false }),
    TypeOrmModule.forFeature([Owner, Cat]),
  ],
  controllers: [OwnersController, CatsController],
  providers: [OwnersService, CatsService],
})
class AppModule {}

async function main() {
  const app = await NestFactory.create(AppModule)
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }))
  const document = SwaggerModule.createDocument(app, new DocumentBuilder().setTitle('Cats').setVersion('1.0').build())
  SwaggerModule.setup('docs', app, document)
  const owners = app.get(OwnersService)
  const cats = app.get(CatsService)
  for (const name of ['Ada', 'Bela', 'Cleo']) {
    const { id: ownerId } = await owners.save({ name, email: `${name.toLowerCase()}@example.com` })
    for (let age = 1; age <= 5; age++)
      await cats.save({ name: `Cat ${age} of ${name}`, age, breed: 'Maine Coon', ownerId })
  }
  await app.listen(Number(process.env['PORT']), '127.0.0.1')
}

void main()
