import { z } from 'zod'
/** An on/off flag that must be told apart from one that was not given. */
export const OnOff = z.enum(['on', 'off']).meta({ value: 'on|off' })
