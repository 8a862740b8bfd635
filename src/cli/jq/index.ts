import { usage } from '../exit.ts'

export function runJq(expression: string, _value: unknown): readonly unknown[] {
  throw usage(`--jq does not know "${expression}".`)
}
