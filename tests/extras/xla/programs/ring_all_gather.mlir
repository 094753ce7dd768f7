module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=8]> {stablehlo.mesh = {axes = [{name = "d", size = 8 : i64}]}}
  func.func public @main(%arg0: tensor<8x4x5xf32>) -> (tensor<8x8x4x5xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"d"}, {}, {}]>] out_shardings=[<@mesh, [{"d"}, {}, {}, {}]>] manual_axes={"d"} (%arg1: tensor<1x4x5xf32>) {
      %1 = stablehlo.reshape %arg1 : (tensor<1x4x5xf32>) -> tensor<4x5xf32>
      %c = stablehlo.constant dense<1> : tensor<ui32>
      %c_0 = stablehlo.constant dense<8> : tensor<ui32>
      %2 = stablehlo.partition_id : tensor<ui32>
      %3 = stablehlo.divide %2, %c : tensor<ui32>
      %4 = stablehlo.remainder %3, %c_0 : tensor<ui32>
      %5 = stablehlo.convert %4 : (tensor<ui32>) -> tensor<i32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x5xf32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.compare LT, %5, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c_2 = stablehlo.constant dense<8> : tensor<i32>
      %8 = stablehlo.add %5, %c_2 : tensor<i32>
      %9 = stablehlo.select %7, %8, %5 : tensor<i1>, tensor<i32>
      %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i32>) -> tensor<1xi32>
      %11 = "stablehlo.scatter"(%6, %10, %1) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        stablehlo.return %arg3 : tensor<f32>
      }) : (tensor<8x4x5xf32>, tensor<1xi32>, tensor<4x5xf32>) -> tensor<8x4x5xf32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %c_4 = stablehlo.constant dense<0> : tensor<i32>
      %12:5 = stablehlo.while(%iterArg = %5, %iterArg_5 = %c_4, %iterArg_6 = %c_3, %iterArg_7 = %11, %iterArg_8 = %1) : tensor<i32>, tensor<i32>, tensor<i32>, tensor<8x4x5xf32>, tensor<4x5xf32>
      cond {
        %c_9 = stablehlo.constant dense<7> : tensor<i32>
        %14 = stablehlo.compare LT, %iterArg_5, %c_9, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %14 : tensor<i1>
      } do {
        %14:3 = func.call @closed_call(%iterArg, %iterArg_6, %iterArg_7, %iterArg_8) : (tensor<i32>, tensor<i32>, tensor<8x4x5xf32>, tensor<4x5xf32>) -> (tensor<i32>, tensor<8x4x5xf32>, tensor<4x5xf32>)
        %c_9 = stablehlo.constant dense<1> : tensor<i32>
        %15 = stablehlo.add %iterArg_5, %c_9 : tensor<i32>
        stablehlo.return %iterArg, %15, %14#0, %14#1, %14#2 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<8x4x5xf32>, tensor<4x5xf32>
      }
      %13 = stablehlo.broadcast_in_dim %12#3, dims = [1, 2, 3] : (tensor<8x4x5xf32>) -> tensor<1x8x4x5xf32>
      sdy.return %13 : tensor<1x8x4x5xf32>
    } : (tensor<8x4x5xf32>) -> tensor<8x8x4x5xf32>
    return %0 : tensor<8x8x4x5xf32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<8x4x5xf32>, %arg3: tensor<4x5xf32>) -> (tensor<i32>, tensor<8x4x5xf32>, tensor<4x5xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %1 = "stablehlo.collective_permute"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]> : tensor<8x2xi64>}> : (tensor<4x5xf32>) -> tensor<4x5xf32>
    %2 = stablehlo.convert %arg1 : tensor<i32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.subtract %3, %c_0 : tensor<i32>
    %c_1 = stablehlo.constant dense<8> : tensor<i32>
    %5 = call @remainder(%4, %c_1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %6 = call @dynamic_update_index_in_dim(%arg2, %1, %5) : (tensor<8x4x5xf32>, tensor<4x5xf32>, tensor<i32>) -> tensor<8x4x5xf32>
    return %0, %6, %1 : tensor<i32>, tensor<8x4x5xf32>, tensor<4x5xf32>
  }
  func.func private @remainder(%arg0: tensor<i32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i32>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i32>
    return %10 : tensor<i32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<8x4x5xf32>, %arg1: tensor<4x5xf32>, %arg2: tensor<i32>) -> tensor<8x4x5xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x5xf32>) -> tensor<1x4x5xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare LT, %arg2, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %2 = stablehlo.add %arg2, %c_0 : tensor<i32>
    %3 = stablehlo.select %1, %2, %arg2 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.dynamic_update_slice %arg0, %0, %3, %c_1, %c_2 : (tensor<8x4x5xf32>, tensor<1x4x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x4x5xf32>
    return %4 : tensor<8x4x5xf32>
  }
}

