import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectPrimary } from '../../daemon/store/postgres/connection.ts'
import { hasPostgres, testServer } from '../../fixtures/kit/postgres.ts'
import { openUser, type User } from '../../fixtures/kit/user.ts'

// @slow real daemons

const SECRET = 'correct-horse'
let schemas = 0

async function freshStore() {
  const server = await testServer()
  schemas += 1
  const schema = `copy${process.pid}_${schemas}`
  const text = `postgres://souk:${SECRET}@/postgres?host=${server.folder}&schema=${schema}`
  return { text, schema, address: server.addressOf(schema) }
}

async function tablesOf({ schema, address }: Awaited<ReturnType<typeof freshStore>>): Promise<number> {
  const session = await connectPrimary(address, 'test')
  const [row] = await session.query('select count(*)::int as n from pg_tables where schemaname = $1', [schema])
  await session.end()
  return Number(row?.['n'])
}

describe.skipIf(!hasPostgres())('souk store copy', () => {
  let user: User
  let data: string
  beforeAll(async () => {
    user = await openUser({ SOUK_NO_INPUT: '1' })
    await user.souk('up', '--port', '0', '--seed', 'house')
    data = (await user.json('status')).data_dir
    await user.register('fred', '5.00')
    // More than one part in the database.
    writeFileSync(join(user.home, 'book.txt'), 'Chapter. '.repeat(100_000))
    const book = ['--name', 'A book', '--price', '2.00', '--upload', join(user.home, 'book.txt')]
    await user.json('products', 'create', ...book, '--as', 'fred')
    await user.souk('down')
  })
  afterAll(() => user?.close())

  const audit = async () => {
    const { ok, transactions, accounts } = await user.json('money', 'audit')
    return { ok, transactions, accounts }
  }

  test('moves a market to a database and back: same rows, files, books and keys', async () => {
    await user.souk('up')
    const before = await audit()
    expect(before).toMatchObject({ ok: true })
    expect(await user.souk('store', 'copy', 'files')).toMatchObject({ code: 6 })
    await user.souk('down')

    const store = await freshStore()
    const there = await user.souk('store', 'copy', store.text, '--json')
    expect(there).toMatchObject({ code: 0 })
    const moved = JSON.parse(there.out)
    expect(moved).toMatchObject({ records: expect.any(Number), kept: join(data, 'store-before-copy') })
    expect(existsSync(moved.kept)).toBe(true)
    expect(await user.souk('up')).toMatchObject({ code: 0 })
    expect((await user.json('status')).store.note).toMatch(/^PostgreSQL/)
    expect(await audit()).toEqual(before)
    await user.souk('down')

    const back = await user.souk('store', 'copy', 'files', '--json')
    expect(back).toMatchObject({ code: 0 })
    expect(await user.souk('up')).toMatchObject({ code: 0 })
    expect((await user.json('status')).store.note ?? null).toBeNull()
    expect(await audit()).toEqual(before)
    await user.souk('down')
    for (const { out, err } of [there, back, await user.souk('status', '--json')]) {
      expect(out + err).not.toContain(SECRET)
    }

    const [book = ''] = readdirSync(join(data, 'store', 'blobs'))
    expect(readFileSync(join(data, 'store', 'blobs', book), 'utf8')).toBe('Chapter. '.repeat(100_000))

    const again = await freshStore()
    const once = await user.json('store', 'copy', again.text)
    const home = await user.json('store', 'copy', 'files')
    expect([home.records, home.files, home.sha256]).toEqual([once.records, once.files, once.sha256])
  })

  test('leaves no table behind when it fails late, and the files as they were', async () => {
    const store = await freshStore()
    const blobs = join(data, 'store', 'blobs')
    const [name = ''] = readdirSync(blobs)
    const file = join(blobs, name)
    const whole = readFileSync(file)
    writeFileSync(file, 'damaged')
    const refused = await user.souk('store', 'copy', store.text)
    writeFileSync(file, whole)
    expect(refused).toMatchObject({ code: 6 })
    expect(refused.err).toContain(`${name} is damaged`)
    expect(await tablesOf(store)).toBe(0)
    expect(readdirSync(data)).toContain('store')
    expect(readdirSync(data)).not.toContain('database.json')
  })

  test('goes on after it was cut short, and refuses a schema that has another market', async () => {
    const store = await freshStore()
    const { kept, ...copied } = await user.json('store', 'copy', store.text)
    renameSync(kept, join(data, 'store'))
    const undecided = await user.souk('up', '--store', store.text)
    expect(undecided).toMatchObject({ code: 6 })
    expect(undecided.err).toContain('souk store copy')
    expect(await user.json('store', 'copy', store.text)).toEqual({ ...copied, kept })
    expect(await user.json('store', 'copy', 'files')).toMatchObject({ sha256: copied.sha256 })

    const taken = await freshStore()
    const stranger = await openUser({ SOUK_NO_INPUT: '1', SOUK_STORE: taken.text })
    await stranger.souk('up', '--port', '0', '--seed', 'none')
    await stranger.souk('down')
    await stranger.close()
    const refused = await user.souk('store', 'copy', taken.text)
    expect(refused).toMatchObject({ code: 6 })
    expect(refused.err).toContain('has another marketplace')
    expect(refused.err).not.toContain(SECRET)
  })

  test.each([
    ['another form', ['mysql://one'], 'is invalid'],
    ['no database to copy from', ['files'], 'is not in a database'],
  ])('says what is wrong: %s', async (_, words, said) => {
    const answer = await user.souk('store', 'copy', ...words)
    expect(answer.code).not.toBe(0)
    expect(answer.err).toContain(said)
  })
})
