import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { verificationScenarios } from './scenarios.testkit.ts'

describeScenarios('Verification and export', verificationScenarios)
