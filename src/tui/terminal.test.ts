import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PROGRAM } from '../../fixtures/kit/program.ts'
import { openTerminal, seeFrame, type Terminal, tmuxVersion } from './tmux.testkit.ts'

// @slow cockpits in real terminals

/*
 * The built program in a real terminal against a real daemon. Without tmux these tests are reported as not run;
 * with SOUK_REQUIRE_TOOLS=1 its absence fails.
 */

const SOUK = `${process.execPath} ${PROGRAM}`
const tmux = await tmuxVersion()
const isRequired = process.env.SOUK_REQUIRE_TOOLS === '1'

let home: string
let env: Record<string, string>

const exec = promisify(execFile)
const souk = async (...words: string[]) => (await exec(process.execPath, [PROGRAM, ...words], { env })).stdout
const json = async (...words: string[]) => JSON.parse(await souk(...words, '--json'))
const health = () => json('health')

beforeAll(async () => {
  if (!existsSync(PROGRAM)) throw new Error('dist/ is not built: npm run build')
  home = await mkdtemp(join(tmpdir(), 'souk-tui-'))
  // As on a build machine: Ink would draw nothing there by itself.
  env = { HOME: home, PATH: process.env.PATH ?? '', TMPDIR: home, CI: 'true' }
  await souk('up', '--port', '0', '--seed', 'house')
})

afterAll(async () => {
  await souk('down', '--force')
  await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
})

it('tmux is there where it is required', () => {
  if (isRequired) expect(tmux).toMatch(/^tmux \d/)
  expect(tmux === undefined && isRequired).toBe(false)
})

describe.skipIf(tmux === undefined)('in a terminal', () => {
  let terminal: Terminal
  let isOpen = false

  const open = async (columns: number, rows: number) => {
    terminal = await openTerminal({ columns, rows, folder: home, env })
    isOpen = true
  }
  /** A job that its buyer disputes, with a question about it; the two parties are there already the second time. */
  const disputed = async () => {
    const listed = await json('services', 'list', '--search', 'Proofreading')
    if (listed.total === 0) await openTrade()
    const { job_id: id } = await json('--as', 'buyer', 'buy', 'Proofreading', '-i', 'text=all', '--yes')
    await writeFile(`${home}/delivered.json`, '{"text":"half"}')
    await souk('--as', 'seller', 'jobs', 'update', id, '--deliverable', `${home}/delivered.json`)
    await souk('--as', 'buyer', 'jobs', 'dispute', id, '--reason', 'Half of it is missing', '--yes')
    await souk('--as', 'buyer', 'jobs', 'send', id, 'Where is the rest?')
    return id
  }
  const openTrade = async () => {
    for (const wallet of ['seller', 'buyer']) {
      await souk('wallet', 'new', wallet)
      await souk('wallet', 'fund', wallet)
      await souk('--as', wallet, 'account', 'register', '--role', 'both', '--name', wallet)
    }
    const fields = ['name=Proofreading', 'description=A person reads it', 'price=0.50', 'fulfillment_type=human']
    await souk('--as', 'seller', 'services', 'create', ...fields.flatMap((field) => ['--set', field]))
  }
  /** Starts the cockpit so that its pid and its exit code can be told. */
  const start = async (words = 'tui', { before = '', sees = 'Open problems' } = {}) => {
    const script = `echo $$ > ${home}/pid; exec ${before} ${SOUK} ${words}`
    await terminal.line(`sh -c '${script}'; echo "ended $?"`)
    await terminal.see(sees)
  }
  const pid = () => Number(readFileSync(join(home, 'pid'), 'utf8'))

  afterEach(async () => {
    if (isOpen) await terminal.close()
    isOpen = false
    // The next cockpit would open its lists as this one left them.
    await rm(join(home, '.local/state/souk/default/cockpit-views.json'), { force: true })
  })

  describe.each([
    [80, 24],
    [100, 30],
  ])('of %i x %i', (columns, rows) => {
    beforeEach(() => open(columns, rows))

    it('the overview tells what the daemon reports', async () => {
      await start()
      await terminal.see(/✓ books agree, \d+s ago/)
      await terminal.see(/no problems|problem/)
      // The stream of events opens when it opens.
      const shown = await terminal.see(/^ souk .*● live /)
      const text = shown.join('\n')
      expect(shown).toHaveLength(rows)
      expect(shown[0]).toMatch(/^ souk {2}local .*● trading .*● live {2}\d\d:\d\d:\d\d/)
      expect(shown.at(-1)).toMatch(/^ enter open {2}tab panel {2}x snooze {2}P pause payments .*\? help {2}q quit$/)
      const { held, paid_in: paid, held_jobs: jobs } = await json('money', 'river')
      expect(text).toContain(` $${Number(paid) >= 1_000 ? '' : paid}`)
      expect(text).toMatch(new RegExp(`ESCROW  ${jobs} jobs?\\b`))
      expect(text).toContain(`▸ $${held} `)
      const { total } = await json('attention')
      expect(shown[0]).toContain(total === 0 ? '✓ no problems' : `${total} problem`)
      const { crons } = await json('api', 'listCrons')
      expect(text).toMatch(new RegExp(`[Cc]rons ${crons.length} ─`))
      expect(text).toMatch(/─ Live ─+ ● live ─/)
    })

    it('P pauses and unpauses the platform, and the daemon agrees', async () => {
      await start()
      await terminal.see('● trading')
      await terminal.press('P')
      await terminal.see('needs a reason')
      await terminal.type('chain RPC is down')
      await terminal.see("same as  souk admin platform pause --reason 'chain RPC is down'")
      await terminal.press('Enter')
      await terminal.see('[>Cancel  esc ]')
      await terminal.type('y')
      await terminal.see('‖ paused')
      expect(await health()).toMatchObject({ paused: true, status: 'paused' })
      await terminal.see(/✗ platform +— +Paid activity is paused: chain RPC/)
      await terminal.see('The operator paused payments')
      await terminal.type('6')
      await terminal.see('‖ paused')
      await terminal.type('P')
      await terminal.see(/Why +chain RPC is down/)
      await terminal.type('y')
      await terminal.see('The platform is live again.')
      expect(await health()).toMatchObject({ paused: false })
    })

    it('R runs a cron, and its row tells', async () => {
      await start('tui crons', { sees: 'TOOK' })
      const name = /^▌ .*? {2,}([a-z][a-z-]+) {2}/.exec(
        (await terminal.see(/^▌ \S/m)).find((row) => row.startsWith('▌')) ?? '',
      )?.[1]
      await terminal.press('R')
      await terminal.see('RUN A CRON NOW')
      await terminal.see(`same as  souk crons run ${name}`)
      await terminal.type('y')
      await terminal.see(/last run +\w+ \d+s ago, took \d+ ms by admin/)
      const { crons } = await json('api', 'listCrons')
      const { runs } = crons.find((cron: { name: string }) => cron.name === name)
      expect(runs.map(({ trigger }: { trigger: string }) => trigger)).toContain('admin')
    })

    it('services are found, opened and read as JSON', async () => {
      await start('tui services', { sees: 'ENDPOINT' })
      const [{ id, name, agent_price, provider_net_price }] = (await json('services', 'list', '--search', 'qr'))
        .services
      await terminal.type('/qr')
      await terminal.see(/1 of 1[\s\S]*\[services \d+\].*\/qr▏/)
      await terminal.press('Enter')
      await terminal.see(`▌ ${name} `)
      await terminal.see(`buyer pays ${agent_price.fixed}   provider gets ${provider_net_price.fixed}`)
      await terminal.press('Enter')
      await seeWhole(/input +data\*/, rows)
      await terminal.type('e')
      await seeWhole(`"service_id": "${id}"`, rows)
      await terminal.type('T')
      await terminal.see('✗ Only its provider may test a webhook.')
    })

    it('a disputed job is found, read and decided, and the daemon agrees', async () => {
      const id = await disputed()
      await start('tui jobs', { sees: '[open' })
      await terminal.type('vv')
      await terminal.see(/\[disputed \d+\][\s\S]*^▌ \? disputed/m)
      // What somebody has waited for longest stands first.
      await terminal.type('G')
      await terminal.see(new RegExp(`^▌ \\? disputed [\\s\\S]*─ ${id} ─`, 'm'))
      await terminal.see(/disputed +Half of it is missing/)
      await terminal.press('Right', 'Right', 'Right')
      await terminal.see('Where is the rest?')
      await terminal.type('D')
      await seeWhole('Decide – needs an outcome', rows)
      await terminal.type('s')
      await terminal.press('Tab')
      await terminal.type('0.2')
      await terminal.press('Tab')
      await terminal.type('late')
      await terminal.press('Enter')
      await terminal.see('[>Cancel  esc ]')
      await terminal.type('y')
      await terminal.see('Now released: buyer gets $0.20, seller ')
      const { job } = await json('admin', 'jobs', 'bundle', id)
      expect(job.dispute).toMatchObject({ resolution: 'split', buyer_amount: '0.20', resolution_reason: 'late' })
      await terminal.miss(id)
    })

    it('what needs a hand is mended from the first screen, and money moves', async () => {
      await disputed()
      await start()
      await terminal.see(/^▌\? dispute +buyer \/ seller/m)
      await terminal.press('Enter')
      const id = /job_[0-9a-f]{16}/.exec((await terminal.see('DECIDE A DISPUTE')).join('\n'))?.[0]
      await terminal.type('2all there')
      await terminal.press('Enter')
      await terminal.see(`same as  souk admin jobs resolve ${id} --outcome release`)
      await terminal.type('y')
      await terminal.see('Now released: seller gets $0.50')
      const { job } = await json('admin', 'jobs', 'bundle', String(id))
      expect(job).toMatchObject({ status: 'released', dispute: { resolution: 'release' } })
      const [next] = (await json('admin', 'jobs', 'list', '--filter', 'status:disputed')).jobs
      if (next) {
        await terminal.see(`same as  souk admin jobs resolve ${next.job_id}`)
        await terminal.press('Escape')
      }
      await terminal.type('7')
      await terminal.see('[held')
      await terminal.miss(`esc:${id}`)
    })

    it('held money is listed, and the books are checked', async () => {
      await disputed()
      await start('tui money', { sees: '[held' })
      await seeWhole(/^[▌ ] \? disputed +buyer \/ seller +Proofrea.* waits for you/m, rows)
      await terminal.type('a')
      await terminal.see(/✓ The books add up: \d+ checks over \d+ transactions\./)
    })

    it('keeps the frame whole on every screen and through a change of size', async () => {
      await start()
      for (const [key, sign] of [
        ['2', 'ENDPOINT'],
        ['3', '[open'],
        ['4', /opening is logged/i],
        ['8', 'Sanctions list'],
        ['5', 'TOOK'],
        ['6', 'VERB'],
        ['7', '─ Books ─'],
        ['9', '[requests]'],
        ['?', 'Keys for Logs'],
        ['1', 'Open problems'],
        ['P', 'PAUSE THE PLATFORM'],
      ] as const) {
        await terminal.type(key)
        await seeWhole(sign, rows)
      }
      const [toColumns, toRows] = columns === 80 ? [100, 30] : [80, 24]
      await terminal.resize(toColumns, toRows)
      await seeWhole(toColumns === 100 ? /^ 1 Overview/m : /^ 1 Over/m, toRows)
      await terminal.see('PAUSE THE PLATFORM')
    })

    const seeWhole = (sign: string | RegExp, height: number) => seeFrame(terminal, sign, height)
  })

  describe('whatever ends it', () => {
    beforeEach(() => open(80, 24))

    /** The shell's own screen, its cursor and its line mode are back, and what stood there before. */
    const expectRestored = async (code: number) => {
      const shown = await terminal.see(`ended ${code}`)
      expect(await terminal.modes()).toEqual({ alternate: false, cursor: true })
      expect(await terminal.mouse()).toBe('')
      expect(shown.some((row) => row.includes('before the cockpit'))).toBe(true)
      await terminal.line('clear; stty -a')
      const settings = (await terminal.see('icanon')).join(' ')
      expect(settings).toMatch(/ icanon .* echo /)
      return shown.join('\n')
    }
    const started = async (before = '') => {
      await terminal.line('echo before the cockpit')
      await start('tui --mouse', { before })
      expect(await terminal.modes()).toEqual({ alternate: true, cursor: false })
    }

    it('q leaves the terminal as it was', async () => {
      await started()
      await terminal.type('q')
      const shown = await expectRestored(0)
      expect(shown).not.toContain('✗')
    })

    it.each([
      ['SIGTERM', 143],
      ['SIGINT', 130],
      ['SIGHUP', 129],
    ] as const)('%s leaves the terminal as it was', async (signal, code) => {
      await started()
      process.kill(pid(), signal)
      await expectRestored(code)
    })

    // React draws what failed once more before it gives up.
    const breaking = {
      'in a timer': "setTimeout(() => { throw new Error('broken in a timer') }, 0)",
      'in a promise': "void Promise.reject(new Error('broken in a promise'))",
      'while drawing': `
        const whole = Date.prototype.getHours
        let times = 2
        Date.prototype.getHours = () => {
          times -= 1
          if (times === 0) Date.prototype.getHours = whole
          throw new Error('broken while drawing')
        }`,
    }

    it.each(Object.entries(breaking))('an exception %s leaves it as it was, and is told there', async (where, code) => {
      const preload = join(home, 'break.mjs')
      await writeFile(preload, `process.on('SIGUSR2', () => { ${code} })`)
      await started(`env NODE_OPTIONS=--import=${preload}`)
      process.kill(pid(), 'SIGUSR2')
      const shown = await expectRestored(1)
      expect(shown).toContain(`✗ The cockpit failed: broken ${where}  (exit 1)`)
      const crash = JSON.parse(readFileSync(join(home, '.local/state/souk/default/crash-tui.json'), 'utf8'))
      expect(crash).toMatchObject({ message: `broken ${where}`, stack: expect.stringContaining(' at ') })
    })

    it('ctrl-z hands the terminal to the shell, and fg brings the cockpit back', async () => {
      await terminal.line('echo before the cockpit')
      await terminal.line(`${SOUK}`)
      await terminal.see('Open problems')
      await terminal.press('C-z')
      await terminal.see('Stopped')
      expect(await terminal.modes()).toMatchObject({ alternate: false })
      await terminal.line('echo at the shell')
      await terminal.see('at the shell')
      await terminal.line('fg')
      await terminal.see('Open problems')
      await terminal.type('5')
      await terminal.see('TOOK')
      await terminal.press('C-c')
      await terminal.miss('TOOK')
      await terminal.see('shell>')
      expect(await terminal.modes()).toEqual({ alternate: false, cursor: true })
    })
  })

  describe('around it', () => {
    beforeEach(() => open(80, 24))

    it('a killed daemon is said with the way out, and souk up is enough', async () => {
      await start()
      process.kill((await json('status')).pid, 'SIGKILL')
      await terminal.see('✗ daemon gone')
      await terminal.see('→ souk restart')
      expect((await terminal.rows()).join('\n')).toContain('Money today')
      await souk('up', '--port', '0')
      await terminal.see('● trading')
      await terminal.miss('souk restart')
      await souk('api', 'runCron', '-f', `name=${(await json('api', 'listCrons')).crons[0].name}`)
      await terminal.see('The operator ran the cron')
    })

    it('a cockpit that stands still and a silent connection keep no daemon from ending in order', async () => {
      await start()
      await terminal.see('● live')
      const { url } = await json('status')
      const silent = connect(Number(new URL(url).port), '127.0.0.1')
      silent.on('error', () => undefined)
      await once(silent, 'connect')
      process.kill(pid(), 'SIGSTOP')
      try {
        expect(await json('down')).toMatchObject({ instances: [{ how: 'graceful', port_free: true }] })
      } finally {
        silent.destroy()
        process.kill(pid(), 'SIGCONT')
      }
      await terminal.see('✗ daemon gone')
      await souk('up', '--port', '0')
      await terminal.see('● trading')
    })

    it('on a dumb terminal it is the status, looked at again and again, without a control sequence', async () => {
      await terminal.line(`TERM=dumb ${process.execPath} ${PROGRAM} tui --refresh 1s; echo "ended $?"`)
      await terminal.see(/● running[\s\S]+● running/)
      expect((await terminal.modes()).alternate).toBe(false)
      await terminal.press('C-c')
      await terminal.see('ended')
    })

    it('colors and signs give way where they are not wanted', async () => {
      await start()
      expect(await terminal.colored()).toContain('\u001B[38;5;78m● trading')
      await terminal.type('q')
      await terminal.see('ended 0')
      await start('tui --ascii', { before: 'env NO_COLOR=1' })
      await terminal.see('* trading')
      const colored = await terminal.colored()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of colors are what is looked for
      expect(colored).not.toMatch(/\u001B\[(?:\d+;)*(?:[349]\d|10\d)\b/)
      expect(colored).toContain('\u001B[7m')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: anything but ASCII is what is looked for
      expect(colored).not.toMatch(/[^\u0000-\u007F]/)
    })
  })
})
