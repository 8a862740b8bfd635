import { negotiationScenarios } from '../../fixtures/scenarios/negotiation.ts'
import { describeScenarios } from '../../fixtures/scenarios/run.ts'

describeScenarios('Negotiation', negotiationScenarios)
