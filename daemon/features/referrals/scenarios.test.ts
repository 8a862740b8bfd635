import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { referralScenarios } from './scenarios.testkit.ts'

describeScenarios('Earnings and referrals', referralScenarios)
