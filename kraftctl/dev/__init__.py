"""What `kraftctl dev` and the interoperability tests share: real Kafka, as processes of ours."""
