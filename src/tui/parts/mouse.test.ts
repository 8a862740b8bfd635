import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../cockpit.testkit.tsx'
import { type Pointer, withoutMouse } from './mouse.ts'

/** A terminal whose input is read as Ink reads it. What is a key and what a pointer is noted in order. */
function terminal() {
  const clock = fakeClock()
  const heard: (string | Pointer)[] = []
  const chunks: string[] = []
  const raw = Object.assign(new EventEmitter(), { read: () => chunks.shift() ?? null, isTTY: true })
  // The members of a stream that the reader calls.
  const stdin = withoutMouse(raw as unknown as NodeJS.ReadStream, {
    later: clock.later,
    point: (one) => heard.push(one),
  })
  stdin.on('readable', () => {
    for (let text = stdin.read(); text !== null; text = stdin.read()) {
      const last = heard.at(-1)
      if (typeof last === 'string') heard.splice(-1, 1, last + text)
      else heard.push(String(text))
    }
  })
  const send = (...texts: readonly string[]) => {
    for (const text of texts) {
      chunks.push(text.replaceAll('^', '\u001B'))
      raw.emit('readable')
    }
    return heard.map((one) => (typeof one === 'string' ? one.replaceAll('\u001B', '^') : one))
  }
  return { clock, send }
}

const CLICK: Pointer = { does: 'click', column: 10, row: 5 }

describe('mouse reports', () => {
  it('tell clicks of the left button and turns of the wheel; all others are dropped', () => {
    const others = '^[<0;10;5m^[<2;3;4M^[<32;3;4M^[<4;3;4M^[<66;3;4M'
    expect(terminal().send(`^[<0;10;5M^[<64;200;60M^[<65;1;1M${others}`)).toEqual([
      CLICK,
      { does: 'up', column: 200, row: 60 },
      { does: 'down', column: 1, row: 1 },
    ])
  })

  it('come in order with the keys around them', () => {
    expect(terminal().send('ab^[<0;10;5M^[Ac^[<0;10;5Md')).toEqual(['ab', CLICK, '^[Ac', CLICK, 'd'])
  })

  it('are read wherever they are cut', () => {
    const whole = 'a^[<0;10;5Mb'
    for (let at = 1; at < whole.length; at += 1)
      expect(terminal().send(whole.slice(0, at), whole.slice(at))).toEqual(['a', CLICK, 'b'])
    expect(terminal().send(...whole)).toEqual(['a', CLICK, 'b'])
  })

  it.each([
    ['broken off before a key', '^[<0;10j', 'j'],
    ['broken off before another sequence', '^[<0;10^[A', '^[A'],
    ['without figures', '^[<M^[<;;M^[<0;Mk', 'k'],
    ['with too large figures', '^[<0;99999;1M^[<0;1;99999Mq', 'q'],
    ['in the older form', '^[M qPj', 'j'],
  ])('that are broken are no keys: %s', (_, sent, keys) => {
    expect(terminal().send(sent)).toEqual([keys])
    expect(terminal().send(...sent)).toEqual([keys])
  })

  it('keep only a bounded part, however many figures arrive', () => {
    expect(terminal().send('^[<', ...Array.from({ length: 1_000 }, () => '1234567890'), 'Mx')).toEqual(['x'])
  })

  it('in a paste are text', () => {
    const paste = '^[200~a^[<0;10;5Mb^[^[20^[201~'
    expect(terminal().send(`x${paste}^[<0;10;5M`)).toEqual([`x${paste}`, CLICK])
    expect(terminal().send('x', ...paste, '^[<0;10;5M')).toEqual([`x${paste}`, CLICK])
  })

  it('leave all other keys as they are; esc waits for a moment, since a report begins with it', () => {
    const { clock, send } = terminal()
    expect(send('[<0;1;1M', '^')).toEqual(['[<0;1;1M'])
    clock.advance(50)
    expect(send()).toEqual(['[<0;1;1M^'])
    expect(send('^', '^', 'x^[', 'A^OPé^[1;5C')).toEqual(['[<0;1;1M^^^x^[A^OPé^[1;5C'])
  })

  it('that never end are forgotten after a second', () => {
    const { clock, send } = terminal()
    send('^[<0;1')
    clock.advance(1_000)
    expect(send('5')).toEqual(['5'])
  })
})
