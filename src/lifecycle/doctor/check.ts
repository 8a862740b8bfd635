import type { CommandContext } from '../../cli/command.ts'
import type { FoundDaemon } from '../../client/discover.ts'

export type Examined = CommandContext<unknown, unknown>

export type Diagnosis = {
  readonly status: 'ok' | 'warning' | 'problem'
  readonly detail: string
  /** A command to type. */
  readonly fix?: string
  /** Fixes it without risk. @returns what was done */
  readonly mend?: () => Promise<string>
}

/** A check, possibly with named parts. */
export type Examination = {
  readonly id: string
  look(host: Examined, found: FoundDaemon): Promise<Diagnosis> | Diagnosis
  readonly parts?: (host: Examined, wanted: LookBounds) => Promise<readonly PartDiagnosis[]>
}
/** `online`: the check may send requests to external services. */
export type LookBounds = { readonly online: boolean }
export type PartDiagnosis = Omit<Diagnosis, 'mend' | 'fix'> & { readonly part: string }

export const fine = (detail: string): Diagnosis => ({ status: 'ok', detail })
