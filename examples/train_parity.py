import torch
import lrnn

torch.manual_seed(0)
table, head = torch.nn.Embedding(2, 49), torch.nn.Linear(16, 2)  # q, k, v and beta of a bit; even or odd
optimizer = torch.optim.Adam([*table.parameters(), *head.parameters()], lr=0.03)


def logits(bits):  # [B, T] -> [B, T, 2]
    q, k, v, beta = table(bits).unsqueeze(2).split([16, 16, 16, 1], dim=-1)
    beta = 2 * torch.sigmoid(4 * beta.squeeze(-1))  # eigenvalues down to -1; without the 2 parity is out of reach
    o, _ = lrnn.chunk_delta_rule(q, k, v, beta, use_qk_l2norm_in_kernel=True)
    return head(o.squeeze(2))


for step in range(200):
    bits = torch.randint(2, (64, 40))
    loss = torch.nn.functional.cross_entropy(logits(bits).flatten(0, 1), (bits.cumsum(1) % 2).flatten())
    optimizer.zero_grad(), loss.backward(), optimizer.step()

bits = torch.randint(2, (64, 1000))
right = (logits(bits).argmax(-1) == bits.cumsum(1) % 2).float().mean()
print(f"trained on 40 bits; right on 1,000 bits: {right:.1%}")
