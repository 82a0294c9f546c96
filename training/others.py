"""How likely the best of the tools that the gate does not know is what a prompt asks for: one logistic regression.

Learned on made-up catalogues of MetaTool's tools. `best_other` in `crates/selection/src/select.rs` uses it.
"""

import re

import numpy as np
from scipy.optimize import minimize

from table import embed

STOP = set(
    """a about an and any are be can could do doe for from have how i in is it me my of on or please some something that
the this to want what which will with would you""".split()
)


def terms(text):
    for word in re.findall(r"[^\W_]+", text.lower()):
        stem = word[:-1] if word.endswith("s") else word
        yield stem if stem != word and len(stem) > 2 and not stem.endswith("s") else word


def places(tool, spoken):
    """The words of a tool with the weight of the best place that each stands in."""
    name, _, description = spoken(tool).partition(". ")
    weights = {word: 0.5 for word in terms(description)}
    weights.update({word: 1.0 for word in terms(name)})
    return weights


def shares(prompt, catalogue):
    """The share of the prompt's words that each tool of the catalogue holds, the rarer word counting more."""
    wanted = set(terms(prompt))
    wanted = (wanted - STOP) or wanted
    found, whole = np.zeros(len(catalogue)), 0.0
    for word in sorted(wanted):
        held = np.array([words.get(word, 0.0) for words in catalogue])
        rarity = max(np.log((len(catalogue) + 1) / ((held > 0).sum() + 0.5)), 0.1)
        whole += rarity
        found += rarity * held
    return found / whole if whole else found


def place(values):
    return (values - values.mean()) / max(values.std(), 1e-6)


def fit(data, table, pieces, chances, unseen, random, spoken):
    ids = sorted(data.tools)
    vectors = embed(table, pieces, [spoken(data.tools[name]) for name in ids])
    words = [places(data.tools[name], spoken) for name in ids]
    drawn = list(data.some_of_each(random, 12))
    prompts = [text for _, text in drawn] + [one["prompt"] for one in data.learn]
    golds = [ids.index(name) for name, _ in drawn] + [-1] * len(data.learn)
    chance = np.concatenate([chances([text for _, text in drawn]), unseen])
    meant = embed(table, pieces, prompts)
    features, right = [], []
    for at, prompt in enumerate(prompts):
        size = int(np.exp(random.uniform(np.log(2), np.log(120))))
        catalogue = random.permutation(len(ids))[:size]
        # Half of the prompts of these tools meet a catalogue with their tool in it.
        if golds[at] >= 0 and random.random() < 0.6 and golds[at] not in catalogue:
            catalogue[0] = golds[at]
        meaning = vectors[catalogue] @ meant[at]
        share = shares(prompt, [words[one] for one in catalogue])
        best = int(np.argmax(place(meaning) + 0.3 * place(share)))
        row = chance[at]
        features.append([1.0, meaning[best], share[best], row[:8].sum(), row[9], row[10], row[11]])
        right.append(catalogue[best] == golds[at])
    x, y = np.array(features), np.array(right, dtype=float)

    def loss(w):
        scores = x @ w
        value = np.logaddexp(0, scores).mean() - (y * scores).mean() + 1e-4 * (w[1:] ** 2).sum()
        slope = x.T @ (1 / (1 + np.exp(-scores)) - y) / len(y)
        slope[1:] += 2e-4 * w[1:]
        return value, slope

    w = minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x
    sure = 1 / (1 + np.exp(-x @ w)) >= 0.5
    print(f"others: {np.mean(sure == (y > 0)):.3f} right; of those taken {y[sure].mean():.3f}, of ours {np.mean(sure[len(drawn):]):.3f}")
    return [float(one) for one in w]
