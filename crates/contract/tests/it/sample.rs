//! A tool that keeps every line of the contract, and the rich hints that the contract prints.

use serde_json::{Value, json};
use toolroom_contract::ToolDefinition;

/// Every field of a definition, as it is written in a file.
pub(crate) fn definition_json() -> Value {
    json!({
        "name": "get-card",
        "description": "Retrieves a card by its id. Use when you need a card's content. Returns the card.",
        "version": "1.2.0",
        "permissions": ["cards:read"],
        "parameters": {
            "type": "object",
            "properties": {
                "cardId": { "type": "integer", "minimum": 1, "maximum": 1_000_000, "description": "Which card." },
                "fields": {
                    "type": "array", "maxItems": 8, "description": "Only these fields.",
                    "items": { "type": "string", "maxLength": 20 }
                },
                "note": { "type": "string", "maxLength": 100, "description": "Why it is read." }
            },
            "required": ["cardId"],
            "additionalProperties": false
        },
        "output": { "type": "object", "properties": { "front": { "type": "string" } }, "required": ["front"] },
        "category": "query",
        "responseTime": "fast",
        "cacheable": true,
        "cacheTTL": 3600,
        "idempotent": true,
        "examples": [
            { "description": "Get a card by id", "params": { "cardId": 123 }, "expectedResult": { "front": "Hello" } }
        ],
        "tags": ["cards", "content"],
        "rateLimit": { "maxCalls": 60, "windowMs": 60_000 },
        "deprecated": { "since": "1.2.0", "replacement": "get-card-v2", "removalDate": "2027-06-01" },
        "timeout": 2.5,
        "parallel": true,
        "destructive": true,
        "nextActions": [{
            "action": "review-card", "when": "success", "priority": "high", "description": "Review it.",
            "arguments": { "cardId": { "from": "/params/cardId" }, "rating": { "value": 3 } }
        }],
        "derived": ["tags"]
    })
}

/// The same tool without what is optional: it passes the checklist of our own tools.
pub(crate) fn sound() -> ToolDefinition {
    let mut json = definition_json();
    let fields = json.as_object_mut().unwrap();
    for optional in
        ["rateLimit", "deprecated", "timeout", "parallel", "destructive", "nextActions", "derived"]
    {
        fields.shift_remove(optional).expect(optional);
    }
    serde_json::from_value(json).unwrap()
}

/// "Tool with Rich Hints" of the contract, as JSON.
pub(crate) fn rich_hints() -> Value {
    json!({
        "suggestedNextActions": [
            {
                "action": "review-next-card", "priority": "high", "category": "learning",
                "expectedOutcome": "Continue learning momentum", "confidence": 0.92
            },
            {
                "action": "adjust-difficulty", "priority": "medium", "category": "optimization",
                "expectedOutcome": "Better calibrated difficulty"
            }
        ],
        "relatedResources": [{
            "type": "deck", "id": "deck_456", "label": "Math Deck", "relevance": 1.0,
            "metadata": { "quality": "high", "freshness": "current" }
        }],
        "confidence": 0.95,
        "sourceQuality": "high",
        "validityPeriod": "short",
        "contextNeeded": ["user's recent performance trend"],
        "assumptions": ["User completed review attentively", "FSRS algorithm accurate"],
        "riskFactors": [{
            "type": "user-experience", "severity": "low", "description": "User might feel fatigued",
            "probability": 0.2, "impact": 0.1
        }],
        "dependencies": [{
            "action": "adjust-difficulty", "dependsOn": ["review-next-card"], "type": "recommended",
            "reason": "Need more data points before adjustment"
        }],
        "estimatedImpact": {
            "benefit": 0.85, "effort": 0.2, "roi": 4.25,
            "affectedMetrics": ["retention_rate", "review_accuracy"]
        },
        "preferenceAlignment": [{
            "action": "review-next-card", "preference": "continuous_learning", "alignment": "strong", "score": 0.9
        }],
        "reasoning": "High confidence based on FSRS algorithm and recent performance",
        "warnings": [{
            "type": "performance", "severity": "low", "message": "User slower than usual", "autoFixable": false
        }]
    })
}
